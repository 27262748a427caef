import type { PoolUsage, Route } from '@brand-data/contracts';
import { type CallOutcome, isCounted, isUnsure, nameOf } from './api-call.ts';

/** The answers that the callers of one account got. */
export interface CallLedger {
  allowance: number;
  keyId: string;
  calls: number;
  /** The number of calls by status, or by how they ended if there was no answer. */
  outcomes: Map<string, number>;
  /** How many counted answers the callers saw. */
  counted: number;
  /** When each counted answer arrived. */
  countedAtMs: number[];
  /** The number of counted answers by "route/status". */
  countedBy: Map<string, number>;
  /** The number of calls that failed for their caller and that may be billed, by how they ended. */
  unsure: Map<string, number>;
  /** When a caller first got the answer that the allowance is used up. */
  usedUpAtMs: number | undefined;
  /** Counted calls that began after that. */
  countedAfterUsedUp: number;
  /** Answers that no caller should get. */
  strange: Map<string, number>;
}

export function newCallLedger(allowance: number, keyId: string): CallLedger {
  return {
    allowance,
    keyId,
    calls: 0,
    counted: 0,
    usedUpAtMs: undefined,
    countedAfterUsedUp: 0,
    countedAtMs: [],
    outcomes: new Map(),
    countedBy: new Map(),
    unsure: new Map(),
    strange: new Map(),
  };
}

/** Records how one call ended. */
export function enter(
  ledger: CallLedger,
  {
    route,
    beganMs,
    endedMs,
    outcome,
  }: { route: Route; beganMs: number; endedMs: number; outcome: CallOutcome },
): void {
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

function strangenessOf(outcome: CallOutcome): string | undefined {
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
  const { allowance, counted, strange, countedAfterUsedUp, usedUpAtMs } = ledger;
  const used = billed?.used ?? 0;
  const out = billed?.out ?? 0;
  const unsure = sumOf(ledger.unsure);
  const cells = billed?.cells ?? [];
  const inCells = cells.reduce((sum, { count }) => sum + count, 0);
  const broken = [
    counted > used && `callers saw ${counted} counted answers, but only ${used} calls are billed`,
    used > counted + unsure &&
      `${used} calls are billed, but callers saw only ${counted} counted answers and ${unsure} failures that may be billed`,
    used > allowance && `${used} calls are billed, but the allowance is ${allowance}`,
    inCells !== used && `the breakdown adds up to ${inCells} calls, but ${used} are billed`,
    cells.some(({ keyId }) => keyId !== ledger.keyId) && 'the breakdown bills a key that made no call',
    usedUpAtMs !== undefined &&
      used < allowance &&
      `a call got 429, but only ${used} of ${allowance} allowed calls are billed`,
    countedAfterUsedUp > 0 && `${countedAfterUsedUp} calls that began after a 429 got a counted answer`,
    isDriven &&
      out === 0 &&
      used !== allowance &&
      `callers went on past the allowance of ${allowance}, but ${used} calls are billed`,
    ...[...strange].map(([what, times]) => `${what}, ${times} times`),
    ...[...ledger.countedBy].map(([which, seen]) => {
      const cell = cells
        .filter(({ route, status }) => `${route}/${status}` === which)
        .reduce((sum, { count }) => sum + count, 0);
      return seen > cell && `callers saw ${seen} answers ${which}, but the breakdown has only ${cell}`;
    }),
  ];
  return broken.filter((line) => typeof line === 'string');
}

export function add(counts: Map<string, number>, name: string, times = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + times);
}

export function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** "200 12, 503 3" */
export function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
