import type { CallLimits, Credential, GatewayDemand, LimitDemand } from '@brand-data/contracts';
import { LRUCache } from 'lru-cache';
import { admit, isHalfUsed, type Limited, measureDemand, newLimited, offer, setShare } from './limited.ts';
import { Peers } from './peers.ts';
import { shareOf } from './shares.ts';

export const TICK_MS = 500;
const PRESENCE_EVERY_MS = 5_000;
/** A demand that is measured over less time would depend on single calls too much. */
const MEASURED_FOR_MS = 100;
const ENTRIES = 100_000;
/** The largest number of demands in a message. Accounts and keys beyond keep equal shares. */
const MOST_DEMANDS = 2_000;
/** While a gateway has this part of an equal share to do, its account or key stays near the limit, so that shares do not flap. */
const STILL_NEAR = 0.5;

/** How much of an account's or a key's limits this gateway needs. */
type Need = Pick<Limited, 'name' | 'demand' | 'isNearLimit'>;

export type LimitName = 'account_rate' | 'account_concurrency' | 'key_rate' | 'key_concurrency';

/** The limits' answer to a call. */
export type Entered =
  /** `leave` is called once, when the call is over. `second` is undefined if no rate is set. */
  | { leave: () => void; second: SecondPolicy | undefined }
  | { refusedBy: LimitName; retryAfterMs: number; second: SecondPolicy | undefined };

/** For RateLimit's policy "second": calls a second, and the calls that this gateway would admit now. */
export interface SecondPolicy {
  perSecond: number;
  remaining: number;
}

/** Keeps accounts and keys to their calls a second and calls at once, together with the other gateways. */
export interface CallsLimiter {
  /** Returns undefined if neither the account nor the key has limits. */
  enter(
    credential: Pick<Credential, 'accountId' | 'keyId' | 'accountLimits' | 'keyLimits'>,
  ): Entered | undefined;
  /** Handles a message of any gateway, also of this one. */
  heard(message: GatewayDemand): void;
  /** Called every TICK_MS: publishes what the others must know, and gives the shares the latest news. */
  tick(): void;
  /** Publishes that this gateway starts or stops. */
  hello(): void;
  leave(): void;
}

/**
 * @param gateway a name that no other process has
 * @param publish sends a message to all gateways, also to this one; it may be lost
 * @param nowMs the monotonic clock
 */
export function createCallsLimiter({
  gateway,
  publish,
  nowMs,
}: {
  gateway: string;
  publish: (message: GatewayDemand) => void;
  nowMs: () => number;
}): CallsLimiter {
  const all = new LRUCache<string, Limited>({ max: ENTRIES });
  /** Those that had calls since the last tick, or whose share is not equal. */
  const active = new Set<Limited>();
  const peers = new Peers(gateway);
  let tickedMs = nowMs();
  let publishedMs = Number.NEGATIVE_INFINITY;

  const fairShare = (name: string, demand: number, atMs: number): number =>
    peers.isCutOff(atMs) ? 1 / peers.count : shareOf(demand, peers.demandsOf(name));

  /** Without news of others near the limits, and without need of its own, a gateway has an equal share. */
  const shareNow = ({ name, demand, isNearLimit }: Need, atMs: number): number =>
    isNearLimit || peers.isNearLimit(name) ? fairShare(name, demand, atMs) : 1 / peers.count;

  const limitedOf = (name: string, limits: CallLimits, atMs: number): Limited => {
    let limited = all.get(name);
    if (!limited) {
      const share = shareNow({ name, demand: 0, isNearLimit: false }, atMs);
      limited = newLimited(name, limits, share, atMs);
      all.set(name, limited);
    }
    limited.limits = limits;
    if (limited.offered === 0) active.add(limited);
    return limited;
  };

  const send = (more: Partial<GatewayDemand>): void => {
    publishedMs = nowMs();
    peers.published(publishedMs);
    publish({ gateway, hello: false, leaving: false, demands: [], ...more });
  };

  const demandOf = ({ name, demand, isNearLimit }: Need): LimitDemand => ({
    limited: name,
    demand,
    nearLimit: isNearLimit,
  });

  const demandNamed = (name: string): LimitDemand =>
    demandOf(all.peek(name) ?? { name, demand: 0, isNearLimit: false });

  /** The demands of which the others must know: those near a limit here, and those near a limit elsewhere. */
  const demandsToSend = (): LimitDemand[] => {
    const near = [...active].filter(({ isNearLimit }) => isNearLimit);
    const names = new Set(near.map(({ name }) => name));
    const elsewhere = [...peers.nearLimit()].filter((name) => !names.has(name));
    return [...near.map(demandOf), ...elsewhere.map(demandNamed)].slice(0, MOST_DEMANDS);
  };

  /** Sends one demand at once, so that the shares need not wait for the next tick. */
  const sendNow = (limited: Limited, atMs: number): void => {
    const tookMs = Math.max(MEASURED_FOR_MS, atMs - tickedMs);
    const { offered, peak } = limited;
    measureDemand(limited, tookMs);
    Object.assign(limited, { offered, peak });
    send({ demands: [demandOf(limited)] });
  };

  const noteUse = (limited: Limited, atMs: number): void => {
    if (limited.isNearLimit || !isHalfUsed(limited)) return;
    limited.isNearLimit = true;
    active.add(limited);
    sendNow(limited, atMs);
    setShare(limited, shareNow(limited, atMs), atMs);
  };

  return {
    enter: ({ accountId, keyId, accountLimits, keyLimits }) => {
      if (!accountLimits && !keyLimits) return undefined;
      const atMs = nowMs();
      const account = accountLimits && limitedOf(`account/${accountId}`, accountLimits, atMs);
      const key = keyLimits && limitedOf(`key/${keyId}`, keyLimits, atMs);
      const waits = [account, key].map((limited) => limited && offer(limited, atMs));
      for (const limited of [account, key]) if (limited) noteUse(limited, atMs);
      const [ofAccount, ofKey] = waits;
      if (ofAccount !== undefined || ofKey !== undefined) {
        const isAccount = ofAccount !== undefined;
        const { limits, tokens } = (isAccount ? account : key) as Limited;
        const what = limits.rate && tokens < 1 ? 'rate' : 'concurrency';
        const refusedBy = `${isAccount ? 'account' : 'key'}_${what}` as const;
        return {
          refusedBy,
          retryAfterMs: Math.max(ofAccount ?? 0, ofKey ?? 0),
          second: secondOf(account, key),
        };
      }
      for (const limited of [account, key]) if (limited) admit(limited);
      return {
        second: secondOf(account, key),
        leave: () => {
          for (const limited of [account, key]) if (limited) limited.inFlight -= 1;
        },
      };
    },

    heard: (message) => {
      const atMs = nowMs();
      const toAnswer: LimitDemand[] = [];
      const wereNear = new Set(
        message.demands.map(({ limited }) => limited).filter((name) => peers.isNearLimit(name)),
      );
      const count = peers.count;
      const news = peers.heard(message, atMs);
      for (const { limited: name, nearLimit } of news) {
        const limited = all.peek(name);
        if (limited) {
          active.add(limited);
          setShare(limited, shareNow(limited, atMs), atMs);
        }
        if (nearLimit && !wereNear.has(name)) toAnswer.push(demandNamed(name));
      }
      if (message.gateway !== gateway && (message.hello || toAnswer.length > 0)) send({ demands: toAnswer });
      if (peers.count !== count)
        for (const limited of all.values()) setShare(limited, shareNow(limited, atMs), atMs);
    },

    tick: () => {
      const atMs = nowMs();
      const tookMs = Math.max(MEASURED_FOR_MS, atMs - tickedMs);
      tickedMs = atMs;
      const count = peers.count;
      peers.expire(atMs);
      for (const limited of active) {
        measureDemand(limited, tookMs);
        const isBusy = limited.demand * peers.count > STILL_NEAR;
        limited.isNearLimit = isHalfUsed(limited) || (limited.isNearLimit && isBusy);
      }
      const demands = demandsToSend();
      if (demands.length > 0 || atMs - publishedMs >= PRESENCE_EVERY_MS) send({ demands });
      for (const limited of peers.count === count ? active : all.values())
        setShare(limited, shareNow(limited, atMs), atMs);
      for (const limited of active)
        if (limited.demand < 0.001 && !limited.isNearLimit && !peers.isNearLimit(limited.name)) {
          limited.demand = 0;
          active.delete(limited);
        }
    },

    hello: () => send({ hello: true }),
    leave: () => send({ leaving: true }),
  };
}

/** The policy of the account or the key, whichever admits fewer calls now. */
function secondOf(...both: (Limited | undefined)[]): SecondPolicy | undefined {
  let least: SecondPolicy | undefined;
  for (const limited of both) {
    if (!limited?.limits.rate) continue;
    const remaining = Math.max(0, Math.floor(limited.tokens));
    if (!least || remaining < least.remaining)
      least = { perSecond: limited.limits.rate.perSecond, remaining };
  }
  return least;
}
