import { randomUUID } from 'node:crypto';
import {
  ACCOUNT_CHANGES_STREAM,
  ACCOUNT_CHANGES_SUBJECTS,
  AccountChanged,
  accountBeatsSubject,
} from '@brand-data/contracts';
import {
  type Clock,
  elapsedMs,
  type Instant,
  type Nats,
  retryUntilStopped,
  type Service,
} from '@brand-data/runtime';
import { type ConsumerMessages, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';

const CURRENT_FOR_MS = 1_000;
const BEAT_EVERY_MS = 300;
/** Nothing that is remembered is trusted for longer: beats would serve nobody. */
const IDLE_AFTER_MS = 600_000;
/** An election in NATS takes less; another consumer may live where this one's server is not. */
const STUCK_AFTER_MS = 10_000;
const HEARTBEAT_MS = 500;

/** The stream of changes of keys, accounts and plans. */
export interface AccountChanges {
  /** Whether all changes that were confirmed since then have arrived, but for those of the last second. */
  allArrivedSince(since: Instant): boolean;
}

/** How far a gateway has followed the stream, by what its consumers deliver. */
export interface Progress extends AccountChanges {
  /** There is a consumer; what the stream takes from now on is delivered. */
  follow(consumer: string): void;
  /** The next beat's payload; undefined: nobody has asked for so long that none is needed. */
  beat(): string | undefined;
  /** Whether this is what follows on the last delivery; else something may have been lost: a new consumer is needed. */
  isNext(delivery: Delivery): boolean;
  /** A beat has come back, next in turn: so have all changes that were confirmed before it was sent. */
  returned(payload: string): void;
  /** Whether beats have been lost for so long that another consumer should be tried. */
  isStuck(): boolean;
}

/** The consumer's `sequence`th message, from 1. */
interface Delivery {
  consumer: string;
  deliverySequence: number;
}

/**
 * That messages arrive proves nothing: a server that is cut off from its cluster delivers what it has, and its heartbeats
 * say that there is nothing more. What a majority has taken, and has brought back in the stream's order, proves that
 * everything before it has arrived. So a payload is the moment when the beat was sent, which nobody else reads.
 */
export function createProgress(clock: Pick<Clock, 'now'>): Progress {
  let followed: { consumer: string; since: Instant; delivered: number } | undefined;
  let currentAsOf: Instant | undefined;
  let unansweredSince: Instant | undefined;
  let askedAt = clock.now();
  return {
    follow: (consumer) => {
      followed = { consumer, since: clock.now(), delivered: 0 };
      currentAsOf = undefined;
      unansweredSince = undefined;
    },
    beat: () => {
      const now = clock.now();
      if (elapsedMs(askedAt, now) >= IDLE_AFTER_MS) {
        unansweredSince = undefined;
        return undefined;
      }
      unansweredSince ??= now;
      return JSON.stringify(now);
    },
    isNext: ({ consumer, deliverySequence }) => {
      if (followed?.consumer !== consumer || followed.delivered + 1 !== deliverySequence) {
        followed = undefined;
        return false;
      }
      followed.delivered = deliverySequence;
      return true;
    },
    returned: (payload) => {
      currentAsOf = JSON.parse(payload);
      unansweredSince = undefined;
    },
    isStuck: () => unansweredSince !== undefined && elapsedMs(unansweredSince, clock.now()) >= STUCK_AFTER_MS,
    allArrivedSince: (since) => {
      askedAt = clock.now();
      if (followed === undefined || currentAsOf === undefined) return false;
      return (
        since.monotonicMs > followed.since.monotonicMs && elapsedMs(currentAsOf, askedAt) < CURRENT_FOR_MS
      );
    },
  };
}

/**
 * Follows the stream by an ordered consumer, and publishes beats into it. After a loss it follows anew what is published from
 * then on: what was known before is not vouched for any more, and so need not be sent again.
 */
export async function followAccountChanges(
  service: Service,
  nats: Nats,
  clock: Pick<Clock, 'now'>,
  onChange: (change: AccountChanged) => void,
): Promise<AccountChanges> {
  const progress = createProgress(clock);
  const beats = accountBeatsSubject(randomUUID());

  const subscribe = async (): Promise<ConsumerMessages> => {
    const consumer = await nats.js.consumers.get(ACCOUNT_CHANGES_STREAM, {
      deliver_policy: DeliverPolicy.New,
      filter_subjects: [ACCOUNT_CHANGES_SUBJECTS, beats],
    });
    const { name } = await consumer.info(true);
    progress.follow(name);
    const deliver = (message: JsMsg) => {
      if (!progress.isNext(message.info)) void consumed.close();
      else if (message.subject === beats) progress.returned(message.string());
      else onChange(AccountChanged.decode(message.data));
    };
    const consumed = await consumer.consume({
      idle_heartbeat: HEARTBEAT_MS,
      expires: 30_000,
      callback: deliver,
    });
    return consumed;
  };
  const subscribeAgain = () => retryUntilStopped('the stream of account changes', subscribe, service);

  /** Returns when something was lost on the way, or the subscription has ended. */
  const untilLoss = async (messages: ConsumerMessages): Promise<void> => {
    for await (const { type } of messages.status()) if (type === 'reset') return;
  };

  let messages = await subscribeAgain();
  service.onStop('account changes', () => messages.close());
  const follow = async (): Promise<void> => {
    for (;;) {
      await untilLoss(messages);
      if (service.signal.aborted) return;
      service.log.warn('changes of accounts may have been lost: tokens are verified again');
      await messages.close();
      messages = await subscribeAgain();
    }
  };
  follow().catch((error: unknown) => {
    if (!service.signal.aborted) throw error;
  });

  const beating = setInterval(() => {
    const payload = progress.beat();
    if (payload !== undefined) nats.connection.publish(beats, payload);
    if (progress.isStuck()) void messages.close();
  }, BEAT_EVERY_MS);
  service.onStop('beats', () => clearInterval(beating));
  return progress;
}
