import type { PoolUsage, Route } from '@brand-data/contracts';
import { isCounted, isUnsure, nameOf, type Outcome } from './api-call.ts';

/** What the callers of one account saw. */
export interface Ledger {
  allowance: number;
  keyId: string;
  calls: number;
  /** The number of calls by status, or by how they ended without one. */
  outcomes: Map<string, number>;
  /** How many counted answers the callers saw. */
  counted: number;
  /** When each counted answer arrived. */
  countedAtMs: number[];
  /** The number of counted answers by "route/status". */
  countedBy: Map<string, number>;
  /** Calls that their caller saw fail and that may be billed, by how they ended. */
  unsure: Map<string, number>;
  /** When a caller was first told that the allowance is used up. */
  usedUpAtMs: number | undefined;
  /** Counted calls that began after that. */
  countedAfterUsedUp: number;
  /** Answers that no caller should get. */
  strange: Map<string, number>;
}

export function newLedger(allowance: number, keyId: string): Ledger {
  return {
    ...{ allowance, keyId, calls: 0, counted: 0, usedUpAtMs: undefined, countedAfterUsedUp: 0 },
    ...{ countedAtMs: [], outcomes: new Map(), countedBy: new Map(), unsure: new Map(), strange: new Map() },
  };
}

/** Records how one call ended. */
export function enter(
  ledger: Ledger,
  { route, beganMs, endedMs, outcome }: { route: Route; beganMs: number; endedMs: number; outcome: Outcome },
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

function strangenessOf(outcome: Outcome): string | undefined {
  if (outcome.kind !== 'answered') return undefined;
  const { status, headers } = outcome;
  const charged = headers['x-quota-charged'];
  if (isCounted(outcome)) return charged === '1' ? undefined : `${status} with X-Quota-Charged: ${charged}`;
  if (status !== 429 && status !== 503) return `an answer ${status}`;
  if (headers['content-type'] !== 'application/problem+json') return `${status} that is no problem+json`;
  if (headers['retry-after'] === undefined) return `${status} without Retry-After`;
  return status === 429 && charged !== '0' ? `429 with X-Quota-Charged: ${charged}` : undefined;
}

/**
 * Compares the answers that callers saw with the bill. Returns a line for each violation. `isDriven`: the callers went on until
 * the allowance was used up.
 */
export function judge(ledger: Ledger, billed: PoolUsage | undefined, isDriven: boolean): string[] {
  const { allowance, counted, strange, countedAfterUsedUp, usedUpAtMs } = ledger;
  const used = billed?.used ?? 0;
  const out = billed?.out ?? 0;
  const unsure = sumOf(ledger.unsure);
  const cells = billed?.cells ?? [];
  const inCells = cells.reduce((sum, { count }) => sum + count, 0);
  const broken = [
    counted > used && `${counted} counted answers were seen, ${used} are billed`,
    used > counted + unsure &&
      `${used} are billed, of which ${counted} were seen and ${unsure} may have failed for their caller`,
    used > allowance && `${used} are billed of an allowance of ${allowance}`,
    inCells !== used && `the breakdown sums to ${inCells}, billed are ${used}`,
    cells.some(({ keyId }) => keyId !== ledger.keyId) && 'a key is billed that made no call',
    usedUpAtMs !== undefined && used < allowance && `429 was said, though ${used} of ${allowance} are billed`,
    countedAfterUsedUp > 0 && `${countedAfterUsedUp} calls were counted that began after a 429`,
    isDriven && out === 0 && used !== allowance && `driven past ${allowance}, ${used} are billed`,
    ...[...strange].map(([what, times]) => `${what}, ${times} times`),
    ...[...ledger.countedBy].map(([which, seen]) => {
      const cell = cells
        .filter(({ route, status }) => `${route}/${status}` === which)
        .reduce((sum, { count }) => sum + count, 0);
      return seen > cell && `${seen} answers ${which} were seen, ${cell} are in the breakdown`;
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
