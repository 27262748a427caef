import { setTimeout as delay } from 'node:timers/promises';
import { Route } from '@brand-data/contracts';
import type { Operator } from '../e2e/operator.ts';
import { type ApiClient, isFailure, nameOf } from './api-call.ts';
import type { Fault } from './fault.ts';
import { add, enter, type Ledger, newLedger } from './ledger.ts';
import type { FaultStack } from './stack.ts';

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
const IDENTIFIERS = [KNOWN, KNOWN, "O'Brien's Corner-Shop", UNKNOWN];

export interface Account {
  name: string;
  accountId: string;
  token: string;
  /** Whether its callers go on until the allowance is used up. */
  isDriven: boolean;
  ratePerS: number;
  ledger: Ledger;
  /** Whether a gateway that may have held its permits was killed or frozen. */
  hasLostGrants: boolean;
  /** The current period without an answer on gateways that are not faulty. undefined: the last call was answered. */
  dry: Dry | undefined;
}

/** A time in which all of an account's calls on gateways that are not faulty failed. */
interface Dry {
  account: Account;
  fromMs: number;
  /** When a call was answered again. undefined: none has been yet. */
  toMs: number | undefined;
  failed: number;
  /** Counted answers of the account before that time. */
  countedBefore: number;
  /** How the first call ended that was answered again. */
  endedBy: string | undefined;
  /** Whether a lost gateway may have held the permits that the calls needed. */
  isExcused: boolean;
}

/** The time in which callers may notice a fault. */
export interface Window {
  fault: Fault;
  beganMs: number;
  /** When the process served again. */
  endedMs: number;
  /** When callers should no longer notice the fault. */
  overMs: number;
  calls: number;
  /** Whether a call to a target has failed, so that targets answer no more until they are back. */
  targetFailed: boolean;
  failures: Map<string, number>;
  /** Ordered by their beginnings. */
  dries: Dry[];
}

/** A failed call that is a violation unless it is excused. */
export interface Failure {
  account: Account;
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

/**
 * Steady callers of many accounts over all gateways, and what they saw. Times are measured from the beginning of the traffic.
 */
export interface Traffic {
  accounts: Account[];
  windows: Window[];
  failures: Failure[];
  /** Answers with another record than that of their identifier. */
  wrong: string[];
  now(): number;
  /** Creates an account and begins its calls. */
  open(allowance: number, ratePerS: number): Promise<void>;
  /** Creates an account that every gateway knows, without beginning its calls. */
  prepare(allowance: number, ratePerS: number): Promise<Account>;
  /** Begins the calls of an account. */
  begin(account: Account): void;
  /** Makes one more call of an account, on the next gateway. */
  call(account: Account): Promise<void>;
  /** Runs the fault in a window of its own. */
  suffer(fault: Fault, forMs: number): Promise<Window>;
  /** The longest time of an answer from a gateway that was not faulty. */
  longestMs(): number;
  /** Stops the calls. Resolves when every call has ended. */
  stop(): Promise<void>;
}

export function startTraffic({
  stack,
  operator,
  client,
  random,
  finishesAfterMs = Number.POSITIVE_INFINITY,
}: {
  stack: FaultStack;
  operator: Operator;
  client: ApiClient;
  random: () => number;
  /** Callers stop this long after the first 429, but not while their calls fail. Absent: they do not stop. */
  finishesAfterMs?: number;
}): Traffic {
  const accounts: Account[] = [];
  const windows: Window[] = [];
  const failures: Failure[] = [];
  const wrong: string[] = [];
  /** The first whole answer of each path. The records do not change. */
  const answers = new Map<string, Buffer>();
  const running: Promise<void>[] = [];
  const began = performance.now();
  const now = () => performance.now() - began;
  let window: Window | undefined;
  let isGoing = true;
  let longestMs = 0;
  let etag: string | undefined;
  let turn = 0;

  const nextGateway = () => {
    turn += 1;
    const gateway = stack.gateways[turn % stack.gateways.length];
    if (!gateway) throw new Error('there are no gateways');
    return gateway;
  };

  const loseGrants = (account: Account): void => {
    account.hasLostGrants = true;
    if (account.dry) account.dry.isExcused = account.isDriven;
  };

  const call = async (account: Account): Promise<void> => {
    const gateway = nextGateway();
    const identifier = IDENTIFIERS[Math.floor(random() * IDENTIFIERS.length)] ?? KNOWN;
    const route = random() < 0.6 ? Route.BRANDS : Route.LOGOS;
    const segment = encodeURIComponent(identifier);
    const path = route === Route.BRANDS ? `/v1/brands/${segment}` : `/api/logos/${segment}/info`;
    const headers: Record<string, string> =
      etag !== undefined && random() < 0.3 ? { 'if-none-match': etag } : {};
    const windowAtBegin = window;
    const beganMs = now();
    const outcome = await client.get(`${gateway.url}${path}?token=${account.token}`, { headers });
    const endedMs = now();
    if (outcome.kind === 'answered' && identifier === KNOWN && route === Route.BRANDS)
      etag = outcome.headers.etag ?? etag;
    enter(account.ledger, { route, beganMs, endedMs, outcome });
    if (outcome.kind === 'answered' && outcome.status === 200) {
      const first = answers.get(path) ?? outcome.body;
      answers.set(path, first);
      if (!first.equals(outcome.body)) wrong.push(`${gateway.name} gave another answer for ${path}`);
    }

    const within = windowAtBegin ?? window;
    if (within) within.calls += 1;
    const isInTrouble = within?.fault.targets.includes(gateway.name) ?? false;
    if (within?.fault.losesGrants && isInTrouble) {
      // The gateway may have got permits for this call just before it was lost.
      if (outcome.kind !== 'refused' && !(within.targetFailed && outcome.kind === 'answered'))
        loseGrants(account);
      if (isFailure(outcome)) within.targetFailed = true;
    }
    if (!isInTrouble) longestMs = Math.max(longestMs, endedMs - beganMs);
    if (!isFailure(outcome)) {
      if (account.dry && beganMs >= account.dry.fromMs) {
        Object.assign(account.dry, { toMs: endedMs, endedBy: nameOf(outcome) });
        account.dry = undefined;
      }
      return;
    }
    if (!isInTrouble) {
      if (!account.dry) {
        const isExcused = account.isDriven && account.hasLostGrants;
        account.dry = {
          account,
          fromMs: beganMs,
          toMs: undefined,
          failed: 0,
          isExcused,
          endedBy: undefined,
          countedBefore: account.ledger.counted,
        };
        within?.dries.push(account.dry);
      }
      account.dry.failed += 1;
    }
    const what = nameOf(outcome);
    if (within) {
      add(within.failures, what);
      // Other gateways must answer every call in time. They must answer calls for the cached record of an account far from its
      // limit. Other failures are allowed in a window.
      if (isInTrouble || (what !== 'late' && (account.isDriven || identifier === UNKNOWN))) return;
    }
    const failure: Failure = {
      account,
      what,
      gateway: gateway.name,
      identifier,
      window: within,
      atMs: beganMs,
      permits: 'permits unknown',
      isExcused: account.hasLostGrants && what === '503',
    };
    failures.push(failure);
    if (!within) running.push(lookAt(failure));
  };

  const lookAt = async (failure: Failure): Promise<void> => {
    const { account } = failure;
    const [pool] = await operator.usage(account.accountId).catch(() => []);
    if (!pool) return;
    failure.permits = `${pool.remaining} permits available, ${pool.out} in open grants`;
    // The lost grants are settled, so they excuse no later failure.
    if (pool.out === 0) account.hasLostGrants = false;
  };

  const drive = async (account: Account): Promise<void> => {
    const inFlight = new Set<Promise<void>>();
    // If all calls of the account fail at the moment, the calls continue until one is answered, so that this period has an end.
    const isFinished = () => !account.dry && now() - (account.ledger.usedUpAtMs ?? now()) > finishesAfterMs;
    for (;;) {
      if (!isGoing || isFinished()) {
        await Promise.all(inFlight);
        // The last of these calls may have had no answer, so the condition is checked again.
        if (!isGoing || isFinished()) return;
      }
      if (inFlight.size < IN_FLIGHT) {
        const pending = call(account).finally(() => inFlight.delete(pending));
        inFlight.add(pending);
      }
      const isWaiting = account.hasLostGrants && (account.dry?.failed ?? 0) > FAILED_OFTEN;
      const isSlow = isWaiting || account.ledger.usedUpAtMs !== undefined;
      const ratePerS = isSlow ? AFTER_429_PER_S : account.ratePerS;
      await delay((1_000 / ratePerS) * (0.5 + random()));
    }
  };

  const prepare: Traffic['prepare'] = async (allowance, ratePerS) => {
    const { accountId, token, keyId } = await operator.newAccount(allowance);
    const account: Account = {
      accountId,
      token,
      ratePerS,
      hasLostGrants: false,
      dry: undefined,
      isDriven: allowance < UNLIMITED,
      ledger: newLedger(allowance, keyId),
      name: `${accounts.length + 1} (${allowance})`,
    };
    accounts.push(account);
    // Every gateway knows the token before the next fault. Each is asked twice, because a gateway does not keep an answer that
    // arrives while it receives a change.
    for (const { url } of [...stack.gateways, ...stack.gateways])
      await client.get(`${url}/v1/usage?token=${token}`);
    return account;
  };
  const begin: Traffic['begin'] = (account) => {
    running.push(drive(account));
  };

  return {
    accounts,
    windows,
    failures,
    wrong,
    now,
    call,
    prepare,
    begin,
    open: async (allowance, ratePerS) => begin(await prepare(allowance, ratePerS)),
    suffer: async (fault, forMs) => {
      const own: Window = {
        fault,
        beganMs: now(),
        endedMs: 0,
        overMs: 0,
        calls: 0,
        targetFailed: false,
        failures: new Map(),
        dries: [],
      };
      windows.push(own);
      window = own;
      if (fault.losesGrants)
        for (const account of accounts) if (account.ledger.calls > 0) loseGrants(account);
      await fault.happen(stack, forMs);
      own.endedMs = now();
      await delay(fault.boundMs);
      own.overMs = now();
      window = undefined;
      return own;
    },
    longestMs: () => longestMs,
    stop: async () => {
      isGoing = false;
      await Promise.all(running);
    },
  };
}
