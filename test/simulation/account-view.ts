import type { UsageCell } from '@brand-data/contracts';
import type { Ledger } from '@brand-data/metering/src/ledger/ledger.ts';
import type { Violation } from './invariants.ts';

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
  const cells = new Set([
    ...account.counted.keys(),
    ...account.unsure.keys(),
    ...(account.bill?.cells.keys() ?? []),
  ]);
  return [...cells].flatMap((cell) => {
    const billed = account.bill?.cells.get(cell) ?? 0;
    const counted = account.counted.get(cell) ?? 0;
    const unsure = account.unsure.get(cell) ?? 0;
    const broken: Omit<Violation, 'atMs'>[] = [];
    if (billed < counted)
      broken.push({
        invariant: '2 every counted answer is billed',
        text: `${name}, ${cell}: ${counted} answered, ${billed} billed`,
      });
    if (billed > counted + unsure)
      broken.push({
        invariant: '4 a billed call was seen as counted or as failed',
        text: `${name}, ${cell}: ${billed} billed, ${counted} answered, ${unsure} unsure`,
      });
    return broken;
  });
}
