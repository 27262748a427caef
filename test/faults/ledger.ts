import type { PoolUsage, Route } from '@brand-data/contracts';
import { type CallOutcome, isCounted, isUnsure, nameOf } from './api-call.ts';

/** The answers that the callers of one account got. */
export type CallLedger = ReturnType<typeof newCallLedger>;

export function newCallLedger(allowance: number, keyId: string) {
  return {
    allowance,
    keyId,
    calls: 0,
    /** How many counted answers the callers saw. */
    counted: 0,
    /** When each counted answer arrived. */
    countedAtMs: [] as number[],
    /** When a caller first got the answer that the allowance is used up. */
    usedUpAtMs: undefined as number | undefined,
    /** Counted calls that began after that. */
    countedAfterUsedUp: 0,
    /** The number of calls by status, or by how they ended if there was no answer. */
    outcomes: new Map<string, number>(),
    /** The number of counted answers by "route/status". */
    countedBy: new Map<string, number>(),
    /** The number of calls that failed for their caller and that may be billed, by how they ended. */
    unsure: new Map<string, number>(),
    /** Answers that no caller should get. */
    strange: new Map<string, number>(),
  };
}

/** Records how one call ended. */
export function enter(
  ledger: CallLedger,
  call: { route: Route; beganMs: number; endedMs: number; outcome: CallOutcome },
): void {
  const { route, beganMs, endedMs, outcome } = call;
  ledger.calls += 1;
  const name = nameOf(outcome);
  add(ledger.outcomes, name);
  if (isUnsure(outcome)) add(ledger.unsure, name);
  if (isCounted(outcome)) {
    ledger.counted += 1;
    ledger.countedAtMs.push(endedMs);
    add(ledger.countedBy, `${route}/${name}`);
    if (ledger.usedUpAtMs !== undefined && beganMs > ledger.usedUpAtMs) ledger.countedAfterUsedUp += 1;
  }
  if (name === '429') ledger.usedUpAtMs ??= endedMs;
  const strangeness = strangenessOf(outcome);
  if (strangeness) add(ledger.strange, strangeness);
}

/** Returns what is wrong with an answer. undefined: nothing. */
export function strangenessOf(outcome: CallOutcome): string | undefined {
  if (outcome.kind !== 'answered') return undefined;
  const { status, headers } = outcome;
  const charged = headers['x-quota-charged'];
  if (isCounted(outcome)) return charged === '1' ? undefined : `${status} with X-Quota-Charged: ${charged}`;
  if (status !== 429 && status !== 503) return `an answer with the unexpected status ${status}`;
  if (headers['content-type'] !== 'application/problem+json') return `${status} that is not problem+json`;
  if (headers['retry-after'] === undefined) return `${status} without Retry-After`;
  return status === 429 && charged !== '0' ? `429 with X-Quota-Charged: ${charged}` : undefined;
}

/**
 * Compares the answers that callers saw with the bill. Returns a line for each violation. `isDriven`: whether the callers
 * continued until the allowance was used up.
 */
export function judge(ledger: CallLedger, billed: PoolUsage | undefined, isDriven: boolean): string[] {
  const { allowance, counted, countedAfterUsedUp } = ledger;
  const { used = 0, out = 0, cells = [] } = billed ?? {};
  const unsure = sumOf(ledger.unsure);
  const inCells = sumOf(cells.map(({ count }) => count));
  const broken = [
    counted > used && `callers saw ${counted} counted answers, but only ${used} calls are billed`,
    used > counted + unsure &&
      `${used} calls are billed, but callers saw only ${counted} counted answers and ${unsure} failures that may be billed`,
    used > allowance && `${used} calls are billed, but the allowance is ${allowance}`,
    inCells !== used && `the breakdown adds up to ${inCells} calls, but ${used} are billed`,
    cells.some(({ keyId }) => keyId !== ledger.keyId) && 'the breakdown bills a key that made no call',
    ledger.usedUpAtMs !== undefined &&
      used < allowance &&
      `a call got 429, but only ${used} of ${allowance} allowed calls are billed`,
    countedAfterUsedUp > 0 && `${countedAfterUsedUp} calls that began after a 429 got a counted answer`,
    isDriven &&
      out === 0 &&
      used !== allowance &&
      `callers went on past the allowance of ${allowance}, but ${used} calls are billed`,
    ...[...ledger.strange].map(([what, times]) => `${what}, ${times} times`),
    ...[...ledger.countedBy].map(([which, seen]) => {
      const own = cells.filter(({ route, status }) => `${route}/${status}` === which);
      const billedSo = sumOf(own.map(({ count }) => count));
      return (
        seen > billedSo && `callers saw ${seen} answers ${which}, but the breakdown has only ${billedSo}`
      );
    }),
  ];
  return broken.filter((line) => typeof line === 'string');
}

export function add(counts: Map<string, number>, name: string, times = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + times);
}

export function sumOf(counts: ReadonlyMap<string, number> | readonly number[]): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** "200 12, 503 3" */
export function listed(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ');
}
