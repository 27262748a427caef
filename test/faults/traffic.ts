import { setTimeout as delay } from 'node:timers/promises';
import { Route } from '@brand-data/contracts';
import type { Random } from '@brand-data/testing/random';
import { type CallOutcome, isFailure, nameOf } from './api-call.ts';
import type { FaultRow } from './fault.ts';
import { add, type CallLedger, enter, newCallLedger } from './ledger.ts';
import type { Harness } from './stack.ts';

/** An allowance that no run can use up. */
export const UNLIMITED = 10_000_000;
const IN_FLIGHT = 40;
const AFTER_429_PER_S = 1.5;
/**
 * If a lost gateway held permits of an account and this many calls in a row have failed, the account's callers call less often.
 */
const FAILED_OFTEN = 10;
const KNOWN = 'ZPHX';
const UNKNOWN = 'nobody knows this';
const IDENTIFIERS = [KNOWN, KNOWN, "O'Brien's Corner-Shop", UNKNOWN] as const;

export type TrafficAccount = Awaited<ReturnType<typeof newTrafficAccount>>;

/** A time in which all of an account's calls on gateways that are not faulty failed. */
export type AnswerGap = ReturnType<typeof newGap>;

function newGap(
  account: { name: string; ledger: CallLedger; isDriven: boolean; hasLostGrants: boolean },
  fromMs: number,
) {
  const { name, ledger, isDriven, hasLostGrants } = account;
  return {
    /** The account's name. */
    account: name,
    fromMs,
    /** When a call was answered again. undefined: none has been yet. */
    toMs: undefined as number | undefined,
    /** How the first call ended that was answered again. */
    endedBy: undefined as string | undefined,
    failed: 0,
    /** Counted answers of the account before that time. */
    countedBefore: ledger.counted,
    /** Whether a lost gateway may have held the permits that the calls needed. */
    isExcused: isDriven && hasLostGrants,
  };
}

/** The time in which callers may notice the faults of a row. */
export type Window = ReturnType<typeof newWindow>;

function newWindow(row: FaultRow, beganMs: number) {
  return {
    row,
    beganMs,
    /** When the run began to bring the parts back. */
    backMs: 0,
    /** When the parts served again. */
    endedMs: 0,
    /** When callers should no longer notice the faults. */
    overMs: 0,
    /** The calls that began or ended in the window. */
    calls: [] as { gateway: string; beganMs: number; endedMs: number; what: string }[],
    /** Whether a call to a lost gateway has failed, so that it answers no more until it is back. */
    targetFailed: false,
    failures: new Map<string, number>(),
    /** Ordered by their beginnings. */
    gaps: [] as AnswerGap[],
  };
}

/** A failed call that is a violation unless it is excused. */
export interface Failure {
  account: TrafficAccount;
  what: string;
  gateway: string;
  identifier: string;
  window: Window | undefined;
  atMs: number;
  /** Metering's answer just after the failure: how many permits were available, and how many gateways held. */
  permits: string;
  /** Whether a lost gateway may have held all remaining permits. */
  isExcused: boolean;
}

/** Steady callers of many accounts over all gateways, and what they saw. Times are measured from the beginning of the traffic. */
export class Traffic {
  readonly accounts: TrafficAccount[] = [];
  readonly windows: Window[] = [];
  readonly failures: Failure[] = [];
  /** Answers with another record than that of their identifier. */
  readonly wrong: string[] = [];
  /** The longest time of an answer from a gateway that was not faulty. */
  longestMs = 0;
  readonly #harness: Harness;
  readonly #random: Random;
  readonly #finishesAfterMs: number;
  /** The first whole answer of each path. The records do not change. */
  readonly #answers = new Map<string, string>();
  readonly #running: Promise<void>[] = [];
  readonly #beganMs = performance.now();
  #window: Window | undefined;
  #isGoing = true;
  #etag: string | undefined;
  #turn = 0;

  /** @param finishesAfterMs callers stop this long after the first 429, but not while their calls fail */
  constructor(harness: Harness, random: Random, finishesAfterMs = Number.POSITIVE_INFINITY) {
    this.#harness = harness;
    this.#random = random;
    this.#finishesAfterMs = finishesAfterMs;
  }

  now(): number {
    return performance.now() - this.#beganMs;
  }

  /** Creates an account and begins its calls. */
  async open(allowance: number, ratePerS: number): Promise<void> {
    this.begin(await this.prepare(allowance, ratePerS));
  }

  /** Creates an account that every gateway knows, without beginning its calls. */
  async prepare(allowance: number, ratePerS = rateOf(allowance)): Promise<TrafficAccount> {
    const name = `${this.accounts.length + 1} (${allowance})`;
    const account = await newTrafficAccount(this.#harness, { name, allowance, ratePerS });
    this.accounts.push(account);
    return account;
  }

  /** Begins the calls of an account. */
  begin(account: TrafficAccount): void {
    this.#running.push(this.#drive(account));
  }

  beginWindow(row: FaultRow): Window {
    const window = newWindow(row, this.now());
    this.windows.push(window);
    this.#window = window;
    if (row.losesGrants)
      for (const account of this.accounts) if (account.ledger.calls > 0) loseGrants(account);
    return window;
  }

  endWindow(window: Window): void {
    window.overMs = this.now();
    this.#window = undefined;
  }

  /** Stops the calls. Resolves when every call has ended. */
  async stop(): Promise<void> {
    this.#isGoing = false;
    await Promise.all(this.#running);
  }

  /** Makes one more call of an account, on the next gateway. */
  async call(account: TrafficAccount): Promise<void> {
    const { client, stack } = this.#harness;
    const random = this.#random;
    this.#turn += 1;
    const gateway = stack.gateways[this.#turn % stack.gateways.length];
    if (!gateway) throw new Error('there are no gateways');
    const identifier = random.pick(IDENTIFIERS);
    const route = random.chance(0.6) ? Route.BRANDS : Route.LOGOS;
    const segment = encodeURIComponent(identifier);
    const path = route === Route.BRANDS ? `/v1/brands/${segment}` : `/api/logos/${segment}/info`;
    const headers: Record<string, string> =
      this.#etag !== undefined && random.chance(0.3) ? { 'if-none-match': this.#etag } : {};
    const windowAtBegin = this.#window;
    const beganMs = this.now();
    const outcome = await client.get(`${gateway.url}${path}?token=${account.token}`, headers);
    const endedMs = this.now();
    if (outcome.kind === 'answered' && identifier === KNOWN && route === Route.BRANDS)
      this.#etag = outcome.headers.etag ?? this.#etag;
    enter(account.ledger, { route, beganMs, endedMs, outcome });
    this.#compare(path, gateway.name, outcome);

    const what = nameOf(outcome);
    const window = windowAtBegin ?? this.#window;
    window?.calls.push({ gateway: gateway.name, beganMs, endedMs, what });
    const isFaulty = window?.row.faults.some(({ part }) => part === gateway.name) ?? false;
    if (window && isFaulty) noteLostGrants(account, window, outcome);
    if (!isFaulty) this.longestMs = Math.max(this.longestMs, endedMs - beganMs);
    if (!isFailure(outcome)) {
      if (account.gap && beganMs >= account.gap.fromMs) {
        Object.assign(account.gap, { toMs: endedMs, endedBy: what });
        account.gap = undefined;
      }
      return;
    }
    if (!isFaulty) noteGap(account, window, beganMs);
    if (window) {
      add(window.failures, what);
      // Other gateways must answer every call in time. They must answer calls for the cached record of an account far from its
      // limit. Other failures are allowed in a window.
      if (isFaulty || (what !== 'late' && (account.isDriven || identifier === UNKNOWN))) return;
      if (window.row.mayTell503 && what === '503') return;
    }
    const failure: Failure = {
      account,
      what,
      gateway: gateway.name,
      identifier,
      window,
      atMs: beganMs,
      permits: 'permits unknown',
      isExcused: !window && account.hasLostGrants && what === '503',
    };
    this.failures.push(failure);
    if (!window) this.#running.push(this.#lookAt(failure));
  }

  /** Compares a record with the first answer of its path. */
  #compare(path: string, gateway: string, outcome: CallOutcome): void {
    if (outcome.kind !== 'answered' || outcome.status !== 200) return;
    // The path of a monogram is another one in each version that draws it in another way.
    const answer = outcome.body.toString().replace(/\/monograms\/[^"]*/g, '');
    const first = this.#answers.get(path) ?? answer;
    this.#answers.set(path, first);
    if (first !== answer) this.wrong.push(`${gateway} gave another answer for ${path}`);
  }

  async #lookAt(failure: Failure): Promise<void> {
    const { account } = failure;
    const [pool] = await this.#harness.operator.usage(account.accountId).catch(() => []);
    if (!pool) return;
    failure.permits = `${pool.remaining} permits available, ${pool.out} in open grants`;
    // The lost grants are settled, so they excuse no later failure.
    if (pool.out === 0) account.hasLostGrants = false;
  }

  async #drive(account: TrafficAccount): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    // If all calls of the account fail at the moment, the calls continue until one is answered, so that this period has an end.
    const isFinished = () =>
      !account.gap && this.now() - (account.ledger.usedUpAtMs ?? this.now()) > this.#finishesAfterMs;
    for (;;) {
      if (!this.#isGoing || isFinished()) {
        await Promise.all(inFlight);
        // The last of these calls may have had no answer, so the condition is checked again.
        if (!this.#isGoing || isFinished()) return;
      }
      if (inFlight.size < IN_FLIGHT) {
        const pending = this.call(account).finally(() => inFlight.delete(pending));
        inFlight.add(pending);
      }
      const isWaiting = account.hasLostGrants && (account.gap?.failed ?? 0) > FAILED_OFTEN;
      const isSlow = isWaiting || account.ledger.usedUpAtMs !== undefined;
      const ratePerS = isSlow ? AFTER_429_PER_S : account.ratePerS;
      await delay((1_000 / ratePerS) * this.#random.between(0.5, 1.5));
    }
  }
}

async function newTrafficAccount(
  { stack, operator, client }: Harness,
  { name, allowance, ratePerS }: { name: string; allowance: number; ratePerS: number },
) {
  const { accountId, token, keyId } = await operator.newAccount(allowance);
  // Every gateway knows the token before the next fault. Each is asked twice, because a gateway does not keep an answer that arrives
  // while it receives a change.
  for (const { url } of [...stack.gateways, ...stack.gateways])
    await client.get(`${url}/v1/usage?token=${token}`);
  return {
    name,
    accountId,
    token,
    ratePerS,
    /** Whether its callers go on until the allowance is used up. */
    isDriven: allowance < UNLIMITED,
    ledger: newCallLedger(allowance, keyId),
    /** Whether a gateway that may have held its permits was killed or frozen. */
    hasLostGrants: false,
    /** The current period without an answer on gateways that are not faulty. undefined: the last call was answered. */
    gap: undefined as AnswerGap | undefined,
  };
}

function rateOf(allowance: number): number {
  if (allowance >= 3_000) return 25;
  return allowance >= 300 ? 12 : 6;
}

function loseGrants(account: TrafficAccount): void {
  account.hasLostGrants = true;
  if (account.gap) account.gap.isExcused = account.isDriven;
}

/** A gateway that is lost may have got permits for this call just before. */
function noteLostGrants(account: TrafficAccount, window: Window, outcome: CallOutcome): void {
  if (!window.row.losesGrants) return;
  if (outcome.kind !== 'refused' && !(window.targetFailed && outcome.kind === 'answered'))
    loseGrants(account);
  if (isFailure(outcome)) window.targetFailed = true;
}

function noteGap(account: TrafficAccount, window: Window | undefined, fromMs: number): void {
  if (!account.gap) {
    account.gap = newGap(account, fromMs);
    window?.gaps.push(account.gap);
  }
  account.gap.failed += 1;
}
