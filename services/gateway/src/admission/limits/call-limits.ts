import type { CallLimits, Credential, GatewayDemand, LimitDemand } from '@brand-data/contracts';
import { LRUCache } from 'lru-cache';
import { ProblemError } from '../../answers/problem.ts';
import { begin, isHalfUsed, type Limited, measureDemand, newLimited, offer, setShare } from './limited.ts';
import { fairShare, Peers } from './peers.ts';

export const TICK_MS = 500;
const PRESENCE_EVERY_MS = 5_000;
/** A demand that is measured over less time would depend on single calls too much. */
const MEASURED_FOR_MS = 100;
const ENTRIES = 100_000;
/** The largest number of demands in a message. Accounts and keys beyond keep equal shares. */
const MOST_DEMANDS = 2_000;
/** While a gateway has this part of an equal share to do, its account or key stays near the limit, so that shares do not flap. */
const STILL_NEAR = 0.5;

type Need = Pick<Limited, 'name' | 'demand' | 'isNearLimit'>;

type LimitedCaller = Pick<Credential, 'accountId' | 'keyId' | 'accountLimits' | 'keyLimits'>;

export type LimitName = 'account_rate' | 'account_concurrency' | 'key_rate' | 'key_concurrency';

/** The limits' decision about a call. `second` is undefined if no rate is set. */
export type LimitsDecision =
  /** `release` is called once, when the call is over. */
  | { release: () => void; second: SecondPolicy | undefined }
  | { refusedBy: LimitName; retryAfterMs: number; second: SecondPolicy | undefined };

/** For RateLimit's policy "second": calls a second, and the calls that this gateway would admit now. */
export interface SecondPolicy {
  perSecond: number;
  remaining: number;
}

interface LimiterOptions {
  /** A name that no other process has. */
  gateway: string;
  /** Sends a message to all gateways, also to this one. It may be lost. */
  publish(message: GatewayDemand): void;
  /** The monotonic clock. */
  nowMs(): number;
}

/** Keeps accounts and keys to their calls a second and calls at once, together with the other gateways. */
export class CallsLimiter {
  readonly #options: LimiterOptions;
  readonly #all = new LRUCache<string, Limited>({ max: ENTRIES });
  /** Those that had calls since the last tick, or whose share is not equal. */
  readonly #active = new Set<Limited>();
  readonly #peers: Peers;
  #tickedMs: number;
  #publishedMs = Number.NEGATIVE_INFINITY;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#peers = new Peers(options.gateway);
    this.#tickedMs = options.nowMs();
  }

  /** Returns undefined if neither the account nor the key has limits. */
  admit({ accountId, keyId, accountLimits, keyLimits }: LimitedCaller): LimitsDecision | undefined {
    if (!accountLimits && !keyLimits) return undefined;
    const atMs = this.#options.nowMs();
    const account = accountLimits && this.#limitedOf(`account/${accountId}`, accountLimits, atMs);
    const key = keyLimits && this.#limitedOf(`key/${keyId}`, keyLimits, atMs);
    const accountWaitsMs = account && offer(account, atMs);
    const keyWaitsMs = key && offer(key, atMs);
    if (account) this.#noteUse(account, atMs);
    if (key) this.#noteUse(key, atMs);
    const retryAfterMs = Math.max(accountWaitsMs ?? 0, keyWaitsMs ?? 0);
    if (account && accountWaitsMs !== undefined)
      return { refusedBy: `account_${exceeded(account)}`, retryAfterMs, second: secondOf(account, key) };
    if (key && keyWaitsMs !== undefined)
      return { refusedBy: `key_${exceeded(key)}`, retryAfterMs, second: secondOf(account, key) };
    if (account) begin(account);
    if (key) begin(key);
    return {
      second: secondOf(account, key),
      release: () => {
        if (account) account.inFlight -= 1;
        if (key) key.inFlight -= 1;
      },
    };
  }

  /** Handles a message of any gateway, also of this one. */
  heard(message: GatewayDemand): void {
    const atMs = this.#options.nowMs();
    const peers = this.#peers;
    const toAnswer: LimitDemand[] = [];
    const wereNear = new Set(
      message.demands.map(({ limited }) => limited).filter((name) => peers.isNearLimit(name)),
    );
    const count = peers.count;
    const news = peers.heard(message, atMs);
    for (const { limited: name, nearLimit } of news) {
      const limited = this.#all.peek(name);
      if (limited) {
        this.#active.add(limited);
        setShare(limited, this.#shareNow(limited, atMs), atMs);
      }
      if (nearLimit && !wereNear.has(name)) toAnswer.push(this.#demandNamed(name));
    }
    if (message.gateway !== this.#options.gateway && (message.hello || toAnswer.length > 0))
      this.#send({ demands: toAnswer });
    if (peers.count !== count) this.#shareAnew(this.#all.values(), atMs);
  }

  /** Publishes what the other gateways must know, and gives the shares the latest news. Call it every TICK_MS. */
  tick(): void {
    const atMs = this.#options.nowMs();
    const tookMs = Math.max(MEASURED_FOR_MS, atMs - this.#tickedMs);
    this.#tickedMs = atMs;
    const peers = this.#peers;
    const count = peers.count;
    peers.expire(atMs);
    for (const limited of this.#active) {
      measureDemand(limited, tookMs);
      const isBusy = limited.demand * peers.count > STILL_NEAR;
      limited.isNearLimit = isHalfUsed(limited) || (limited.isNearLimit && isBusy);
    }
    const demands = this.#demandsToSend();
    if (demands.length > 0 || atMs - this.#publishedMs >= PRESENCE_EVERY_MS) this.#send({ demands });
    this.#shareAnew(peers.count === count ? this.#active : this.#all.values(), atMs);
    for (const limited of this.#active)
      if (limited.demand < 0.001 && !limited.isNearLimit && !peers.isNearLimit(limited.name)) {
        limited.demand = 0;
        this.#active.delete(limited);
      }
  }

  hello(): void {
    this.#send({ hello: true });
  }

  leave(): void {
    this.#send({ leaving: true });
  }

  #limitedOf(name: string, limits: CallLimits, atMs: number): Limited {
    let limited = this.#all.get(name);
    if (!limited) {
      const share = this.#shareNow({ name, demand: 0, isNearLimit: false }, atMs);
      limited = newLimited(name, limits, share, atMs);
      this.#all.set(name, limited);
    }
    limited.limits = limits;
    if (limited.offered === 0) this.#active.add(limited);
    return limited;
  }

  #noteUse(limited: Limited, atMs: number): void {
    if (limited.isNearLimit || !isHalfUsed(limited)) return;
    limited.isNearLimit = true;
    this.#active.add(limited);
    this.#sendNow(limited, atMs);
    setShare(limited, this.#shareNow(limited, atMs), atMs);
  }

  /** Without need here and without news of other gateways near the limits, a gateway has an equal share. */
  #shareNow({ name, demand, isNearLimit }: Need, atMs: number): number {
    const peers = this.#peers;
    if ((!isNearLimit && !peers.isNearLimit(name)) || peers.isCutOff(atMs)) return 1 / peers.count;
    return fairShare(demand, peers.demandsOf(name));
  }

  #shareAnew(all: Iterable<Limited>, atMs: number): void {
    for (const limited of all) setShare(limited, this.#shareNow(limited, atMs), atMs);
  }

  #demandsToSend(): LimitDemand[] {
    const near = [...this.#active].filter(({ isNearLimit }) => isNearLimit);
    const names = new Set(near.map(({ name }) => name));
    const elsewhere = this.#peers.nearLimit().filter((name) => !names.has(name));
    return [...near.map(demandOf), ...elsewhere.map((name) => this.#demandNamed(name))].slice(
      0,
      MOST_DEMANDS,
    );
  }

  #demandNamed(name: string): LimitDemand {
    return demandOf(this.#all.peek(name) ?? { name, demand: 0, isNearLimit: false });
  }

  /** Sends one demand without waiting for the next tick. */
  #sendNow(limited: Limited, atMs: number): void {
    const tookMs = Math.max(MEASURED_FOR_MS, atMs - this.#tickedMs);
    const { offered, peak } = limited;
    measureDemand(limited, tookMs);
    Object.assign(limited, { offered, peak });
    this.#send({ demands: [demandOf(limited)] });
  }

  #send(more: Partial<GatewayDemand>): void {
    this.#publishedMs = this.#options.nowMs();
    this.#peers.published(this.#publishedMs);
    this.#options.publish({
      gateway: this.#options.gateway,
      hello: false,
      leaving: false,
      demands: [],
      ...more,
    });
  }
}

/** Returns what ends an admitted call. Throws ProblemError if the account's or the key's limits refuse the call. */
export function releaseOf(decision: LimitsDecision | undefined): (() => void) | undefined {
  if (!decision || 'release' in decision) return decision?.release;
  const [whose, what] = decision.refusedBy.split('_');
  const detail =
    what === 'rate'
      ? `The ${whose} makes more calls a second than it may. Try again after the time in Retry-After.`
      : `The ${whose} has as many calls under way as it may have at once. Wait for their answers.`;
  const seconds = Math.max(1, Math.ceil(decision.retryAfterMs / 1_000));
  throw new ProblemError('rate_limited', detail, { 'Retry-After': String(seconds) });
}

function demandOf({ name, demand, isNearLimit }: Need): LimitDemand {
  return { limited: name, demand, nearLimit: isNearLimit };
}

function exceeded({ limits, tokens }: Limited): 'rate' | 'concurrency' {
  return limits.rate && tokens < 1 ? 'rate' : 'concurrency';
}

/** Returns the policy of the account or the key, whichever admits fewer calls now. */
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
