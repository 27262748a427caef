import type { UsageCell } from '@brand-data/contracts';
import type { Ledger } from '@brand-data/metering/src/ledger/ledger.ts';

/** Numbered as in services/metering/README.md, "Invariants". */
export type Invariant =
  | '1 committed permits stay within the allowance'
  | '2 every counted answer is billed'
  | '3 counted answers stay within the allowance'
  | '4 a billed call was seen as counted or as failed'
  | '5 replaying changes nothing'
  | '6 every acknowledged event is applied'
  | '7 a closed grant never opens again'
  | '8 exhausted means that no permit is available or held'
  | '9 no permit is spent outside its month'
  | '11 a rolling restart fails no call and loses no permit'
  | '12 memory is bounded'
  | '13 an account driven past its limit has billed exactly its allowance'
  | '14 the figures of a month that is final never change'
  | 'healthy: no call fails while allowance remains'
  | 'a lost replica leaves no account without permits'
  | 'settled: no grant stays open';

export interface Violation {
  invariant: Invariant;
  atMs: number;
  text: string;
}

export type SeenOutcome =
  | 'counted'
  /** 429. */
  | 'exhausted'
  /** 503 with X-Quota-Charged: 1, or a broken connection: the call may be billed. */
  | 'unsure'
  /** 503 with X-Quota-Charged: 0, since there was no permit. */
  | 'refused'
  /** 503 with X-Quota-Charged: 0, since the record was not found in time. */
  | 'failed';

/** The answers that callers of one account saw in one month, and the account's bill. */
export interface Account {
  counted: Map<string, number>;
  countedSum: number;
  unsure: Map<string, number>;
  unsureSum: number;
  underWay: number;
  /** The last time at which every permit was used or reserved by a call. */
  noneFreeAtMs: number;
  /** The last time at which every permit was used or held by a gateway. */
  noneUnheldAtMs: number;
  bill: Bill | undefined;
  /** The newest plan of the account that metering knows. `bound`: the most counted answers that callers may get under it. */
  known: { revision: number; limit: number; bound: number } | undefined;
  /** The limits that were in force, each until the next one. */
  limits: { fromMs: number; limit: number }[];
  openGrants: Set<number>;
  closedGrants: Set<number>;
  /** The bill when metering first said that it is final. */
  final: Bill | undefined;
}

interface Bill {
  used: number;
  committed: number;
  cells: Map<string, number>;
}

export function newAccount(): Account {
  return {
    counted: new Map(),
    countedSum: 0,
    unsure: new Map(),
    unsureSum: 0,
    underWay: 0,
    noneFreeAtMs: Number.NEGATIVE_INFINITY,
    noneUnheldAtMs: Number.NEGATIVE_INFINITY,
    bill: undefined,
    known: undefined,
    limits: [],
    openGrants: new Set(),
    closedGrants: new Set(),
    final: undefined,
  };
}

export function billOf({ grants, closedUsed }: Ledger, cells: readonly UsageCell[]): Bill {
  return {
    used: grants.reduce((sum, { used }) => sum + used, closedUsed),
    committed: grants.reduce((sum, { size, returned }) => sum + size - returned, closedUsed),
    cells: new Map(
      cells.map((cell) => [`${cell.keyId}/${cell.route}/${cell.status}/${cell.day}`, cell.count]),
    ),
  };
}

/** Permits that no call has used or reserved. */
export function freeOf({ known, countedSum, unsureSum, underWay }: Account, limit: number): number {
  return (known?.limit ?? limit) - countedSum - unsureSum - underWay;
}

/** Permits that no gateway holds. */
export function unheldOf({ known, bill }: Account): number {
  return known && bill ? known.limit - bill.committed : 0;
}

/** Compares a final bill with what callers saw. */
export function brokenByBill(account: Account, name: string): Omit<Violation, 'atMs'>[] {
  const { counted, unsure, bill } = account;
  const cells = new Set([...counted.keys(), ...unsure.keys(), ...(bill?.cells.keys() ?? [])]);
  return [...cells].flatMap((cell): Omit<Violation, 'atMs'>[] => {
    const billed = bill?.cells.get(cell) ?? 0;
    const answered = counted.get(cell) ?? 0;
    const unknown = unsure.get(cell) ?? 0;
    const text = `${name}, ${cell}: ${billed} billed, ${answered} answered, ${unknown} unsure`;
    if (billed < answered) return [{ invariant: '2 every counted answer is billed', text }];
    if (billed <= answered + unknown) return [];
    return [{ invariant: '4 a billed call was seen as counted or as failed', text }];
  });
}
