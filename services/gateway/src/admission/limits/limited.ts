import type { CallLimits } from '@brand-data/contracts';

/** How much one tick counts in a demand that stays the same but for chance. */
const SMOOTHING = 0.2;

/** The calls of one account or key at this gateway, which has a share of the rate, of the burst and of the concurrency. */
export interface Limited {
  /** "account/" and an account's id, or "key/" and a key's id. */
  readonly name: string;
  limits: CallLimits;
  /** This gateway's part of the limits, 0 to 1. */
  share: number;
  /** Calls that may come now. Below 0 after the share has fallen: those calls were admitted under the larger share. */
  tokens: number;
  /** When `tokens` was last brought up to date, in milliseconds of the monotonic clock. */
  filledMs: number;
  inFlight: number;
  /** Calls that came since the last tick, refused ones too. */
  offered: number;
  /** The most calls under way since the last tick, refused ones too. */
  peak: number;
  /** Recent calls as a part of what the limits allow over all gateways. */
  demand: number;
  /** Whether this gateway needs more than an equal share. */
  isNearLimit: boolean;
}

export function newLimited(name: string, limits: CallLimits, share: number, nowMs: number): Limited {
  const tokens = capacityOf({ limits, share });
  return {
    name,
    limits,
    share,
    tokens,
    filledMs: nowMs,
    inFlight: 0,
    offered: 0,
    peak: 0,
    demand: 0,
    isNearLimit: false,
  };
}

/** The capacity is at least two calls, so that a small share still lets calls through, and loses nothing until the next call. */
function capacityOf({ limits, share }: Pick<Limited, 'limits' | 'share'>): number {
  const burst = limits.rate?.burst ?? 0;
  return Math.max(1, Math.min(2, burst), share * burst);
}

function concurrencyOf({ limits, share }: Limited): number {
  // Without the small addend, a third of three could be less than one.
  return Math.max(1, Math.floor(share * (limits.concurrency ?? 0) + 1e-9));
}

function fill(limited: Limited, nowMs: number): void {
  const { limits, share, filledMs } = limited;
  const added = ((nowMs - filledMs) / 1_000) * share * (limits.rate?.perSecond ?? 0);
  limited.tokens = Math.min(capacityOf(limited), limited.tokens + added);
  limited.filledMs = nowMs;
}

/** Counts a call that came. Returns undefined if the limits admit it now, else the milliseconds after which to try again. */
export function offer(limited: Limited, nowMs: number): number | undefined {
  limited.offered += 1;
  limited.peak = Math.max(limited.peak, limited.inFlight + 1);
  const { limits, inFlight } = limited;
  if (limits.concurrency !== undefined && inFlight >= concurrencyOf(limited)) return 1_000;
  if (!limits.rate) return undefined;
  fill(limited, nowMs);
  if (limited.tokens >= 1) return undefined;
  const perMs = (limited.share * limits.rate.perSecond) / 1_000;
  return perMs > 0 ? (1 - limited.tokens) / perMs : 1_000;
}

/** Begins a call for which `offer` returned undefined. */
export function begin(limited: Limited): void {
  limited.inFlight += 1;
  if (limited.limits.rate) limited.tokens -= 1;
}

/** Whether half of this gateway's share is used up: only then can all gateways together be near the limits. */
export function isHalfUsed(limited: Limited): boolean {
  const { limits, tokens, inFlight } = limited;
  if (limits.rate && tokens < capacityOf(limited) / 2) return true;
  return limits.concurrency !== undefined && inFlight > concurrencyOf(limited) / 2;
}

/**
 * Changes the share. What one gateway's bucket gains, the other buckets lose, even below 0. However often shares change, all gateways
 * together therefore admit no more than one bucket would.
 */
export function setShare(limited: Limited, share: number, nowMs: number): void {
  fill(limited, nowMs);
  const burst = limited.limits.rate?.burst ?? 0;
  const moved = (share - limited.share) * burst;
  limited.share = share;
  limited.tokens = Math.max(-burst, Math.min(capacityOf(limited), limited.tokens + moved));
}

/** Brings `demand` up to date after `tookMs` without a tick. */
export function measureDemand(limited: Limited, tookMs: number): void {
  const { limits, offered, peak, demand } = limited;
  const ofRate = { calls: offered, allowed: ((limits.rate?.perSecond ?? 0) * tookMs) / 1_000 };
  const ofConcurrency = { calls: peak, allowed: limits.concurrency ?? 0 };
  const isOfRate = ofConcurrency.allowed === 0 || partOf(ofRate) > partOf(ofConcurrency);
  const now = isOfRate ? ofRate : ofConcurrency;
  limited.demand += (partOf(now) - demand) * (isByChance(now, demand) ? SMOOTHING : 1);
  limited.offered = 0;
  limited.peak = limited.inFlight;
}

function partOf({ calls, allowed }: { calls: number; allowed: number }): number {
  return allowed === 0 ? 0 : calls / allowed;
}

/**
 * Whether so many calls may come by chance at the same demand. Without smoothing, one call more or less in half a second of a small
 * rate would move whole parts of the limits between gateways.
 */
function isByChance({ calls, allowed }: { calls: number; allowed: number }, demand: number): boolean {
  const expected = demand * allowed;
  return Math.abs(calls - expected) <= 1 + 2.5 * Math.sqrt(expected);
}
