import { type Clock, networkOf } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';

/** How many questions about tokens that may be made up the gateway asks in any second, in all and for one client address. */
const QUESTIONS_A_SECOND = 50;
const QUESTIONS_A_SECOND_AND_ADDRESS = 10;
const WAIT_AT_MOST_MS = 800;
const LOOK_EVERY_MS = 50;
const MOST_WAITING = 1_000;
const MOST_WAITING_OF_ADDRESS = 500;
const ADDRESSES_KEPT = 10_000;

/** A question to accounts about one token. It keeps its place for a second. */
interface Question {
  /** Makes room for another question at once, because the token was valid. */
  release(): void;
}

export type UnknownTokens = ReturnType<typeof createUnknownTokens>;

/** The questions of the last second that count, by the time at which they were asked. */
type Asked = number[];

interface Address {
  asked: Asked;
  waiting: number;
}

interface Waiting {
  address: Address;
  sinceMs: number;
  resolve: (question: Question | undefined) => void;
}

/**
 * Limits the questions to accounts about tokens that may be made up. Questions about valid tokens do not count once they are
 * answered. Therefore, after a restart, a gateway learns all tokens in use as fast as accounts answers.
 */
export function createUnknownTokens(clock: Clock) {
  const all: Asked = [];
  const addresses = new LRUCache<string, Address>({ max: ADDRESSES_KEPT });
  let queue: Waiting[] = [];
  let isServing = false;

  const addressOf = (network: string): Address => {
    let address = addresses.get(network);
    if (!address) {
      address = { asked: [], waiting: 0 };
      addresses.set(network, address);
    }
    return address;
  };

  const take = ({ asked }: Address): Question | undefined => {
    const nowMs = clock.now().monotonicMs;
    for (const times of [all, asked])
      while (times[0] !== undefined && times[0] <= nowMs - 1_000) times.shift();
    if (all.length >= QUESTIONS_A_SECOND || asked.length >= QUESTIONS_A_SECOND_AND_ADDRESS) return undefined;
    for (const times of [all, asked]) times.push(nowMs);
    return {
      release: () => {
        for (const times of [all, asked]) {
          const place = times.indexOf(nowMs);
          if (place >= 0) times.splice(place, 1);
        }
        serveQueue();
      },
    };
  };

  /** Admits questions in the order of arrival, but passes over addresses that have used up their share. */
  const serveQueue = (): void => {
    const nowMs = clock.now().monotonicMs;
    queue = queue.filter(({ address, sinceMs, resolve }) => {
      const question = take(address);
      if (!question && nowMs - sinceMs < WAIT_AT_MOST_MS) return true;
      address.waiting -= 1;
      resolve(question);
      return false;
    });
  };

  const serveWhileWaiting = async (): Promise<void> => {
    isServing = true;
    while (queue.length > 0) {
      await clock.sleep(LOOK_EVERY_MS);
      serveQueue();
    }
    isServing = false;
  };

  return {
    /** Resolves when the question may be asked, and to undefined if it may not in time. */
    admit: async (given: string): Promise<Question | undefined> => {
      const address = addressOf(networkOf(given));
      const question = address.waiting === 0 ? take(address) : undefined;
      if (question) return question;
      if (queue.length >= MOST_WAITING || address.waiting >= MOST_WAITING_OF_ADDRESS) return undefined;
      address.waiting += 1;
      return new Promise((resolve) => {
        queue.push({ address, sinceMs: clock.now().monotonicMs, resolve });
        if (!isServing) void serveWhileWaiting();
      });
    },
  };
}
