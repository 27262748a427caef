import type { GatewayDemand, LimitDemand } from '@brand-data/contracts';

/** A gateway near a limit sends its demand every half a second, so two messages may be lost. */
const NEWS_TRUSTED_MS = 1_600;
/** Gateways send a message every 5 s. */
const PEER_KEPT_MS = 16_000;
/** If a gateway's own message does not come back for this long, its connection to NATS is cut. */
const ECHO_WITHIN_MS = 1_500;

const MOST_PEERS = 1_000;
const MOST_NEWS = 50_000;

interface News {
  demand: number;
  isNearLimit: boolean;
  heardMs: number;
}

/** Remembers what this gateway has heard from the other gateways. All times are on this process's monotonic clock. */
export class Peers {
  readonly #self: string;
  readonly #heardMs = new Map<string, number>();
  /** By the name of the limited account or key, and by gateway. */
  readonly #news = new Map<string, Map<string, News>>();
  #unansweredMs: number | undefined;

  constructor(self: string) {
    this.#self = self;
  }

  /** How many gateways there are, with this one. */
  get count(): number {
    return this.#heardMs.size + 1;
  }

  /** Notes that this gateway publishes a message, which NATS sends back. */
  published(nowMs: number): void {
    this.#unansweredMs ??= nowMs;
  }

  /** Returns the names of which this message has news. */
  heard({ gateway, leaving, demands }: GatewayDemand, nowMs: number): LimitDemand[] {
    if (gateway === this.#self) {
      this.#unansweredMs = undefined;
      return [];
    }
    if (leaving) {
      this.#forget(gateway);
      return [];
    }
    if (this.#heardMs.size >= MOST_PEERS && !this.#heardMs.has(gateway)) return [];
    this.#heardMs.set(gateway, nowMs);
    const sound = demands.filter(({ demand }) => Number.isFinite(demand) && demand >= 0);
    for (const { limited, demand, nearLimit } of sound) {
      if (this.#news.size >= MOST_NEWS && !this.#news.has(limited)) continue;
      const news = this.#news.get(limited) ?? new Map<string, News>();
      news.set(gateway, { demand, isNearLimit: nearLimit, heardMs: nowMs });
      this.#news.set(limited, news);
    }
    return sound;
  }

  /** Whether this gateway may be cut off from the other gateways. It then keeps the equal share that it knew last. */
  isCutOff(nowMs: number): boolean {
    return this.#unansweredMs !== undefined && nowMs - this.#unansweredMs > ECHO_WITHIN_MS;
  }

  /** Forgets gateways that are gone and news that are too old. */
  expire(nowMs: number): void {
    if (!this.isCutOff(nowMs))
      for (const [gateway, heardMs] of this.#heardMs)
        if (nowMs - heardMs > PEER_KEPT_MS) this.#forget(gateway);
    for (const [limited, news] of this.#news) {
      for (const [gateway, { heardMs }] of news) if (nowMs - heardMs > NEWS_TRUSTED_MS) news.delete(gateway);
      if (news.size === 0) this.#news.delete(limited);
    }
  }

  /** The names that another gateway is near the limits of. */
  nearLimit(): string[] {
    return [...this.#news.keys()].filter((limited) => this.isNearLimit(limited));
  }

  isNearLimit(limited: string): boolean {
    for (const { isNearLimit } of this.#news.get(limited)?.values() ?? []) if (isNearLimit) return true;
    return false;
  }

  /** Each other gateway's demand, or undefined without news. */
  demandsOf(limited: string): (number | undefined)[] {
    const news = this.#news.get(limited);
    return [...this.#heardMs.keys()].map((gateway) => news?.get(gateway)?.demand);
  }

  #forget(gateway: string): void {
    this.#heardMs.delete(gateway);
    for (const news of this.#news.values()) news.delete(gateway);
  }
}

/**
 * Returns this gateway's share of the limits of an account or key, 0 to 1. If the gateways together need less than the whole limit,
 * each gets its need and an equal part of the rest, else a share in proportion to its need, so that a call has about the same chance
 * at each gateway. No need counts for more than the whole limit, so that shares hardly change while all gateways are flooded. All
 * gateways with the same news get the same result, and the shares add up to 1.
 *
 * @param own this gateway's demand, as a part of the limits
 * @param others the other gateways' demand; undefined for a gateway without news, which keeps an equal share
 */
export function fairShare(own: number, others: readonly (number | undefined)[]): number {
  const gateways = others.length + 1;
  const known = others.filter((demand) => demand !== undefined);
  const total = (known.length + 1) / gateways;
  const need = Math.min(1, own);
  const sum = known.reduce((all, demand) => all + Math.min(1, demand), need);
  return sum > total ? (need * total) / sum : need + (total - sum) / (known.length + 1);
}
