import { type GrantUsage, isHolderKey, type UsageCell } from '@brand-data/contracts';
import type { ClosedGrant, Ledger, LedgerKey, OpenGrant, ParsedGrantId } from './ledger.ts';
import type { LedgerInput } from './senders.ts';
import { breakdownOf, countOf, largerCells } from './usage-merge.ts';

/** A ledger's answer to usage of one grant. */
export type Verdict =
  /** The usage is billed. */
  | 'applied'
  /** The grant was given out and is closed with less usage: the difference will never be billed. */
  | 'refused'
  /** The usage reports more used and returned permits than the grant has. Its holder is at fault. */
  | 'impossible'
  /** The sender is not the grant's holder, or has guessed the grant's id. */
  | 'foreign'
  /** In this state of the ledger, the grant is not given out yet. A later state may differ. */
  | 'unknown';

/** Usage of one of the ledger's grants. */
export interface NumberedUsage extends Pick<ParsedGrantId, 'number' | 'secret'> {
  usage: LedgerInput;
}

export interface UsageDecision {
  /** The ledger that must be stored before the verdicts are answered. The same object as the input if nothing changes. */
  ledger: Ledger;
  verdicts: Verdict[];
  /** Usage of grants that stay open. Its breakdowns must be stored before the ledger. */
  raised: GrantUsage[];
  /** Ids of the grants that this usage closes. */
  closed: string[];
  /** Calls in refused usage, less the calls that their grants were billed with. */
  dropped: number;
  /** Calls in refused usage of grants that the ledger no longer remembers. Most likely they were billed. */
  forgotten: number;
  /** Some usage closes a grant without containing its whole breakdown, so the decision needs the stored breakdowns. */
  needsBreakdowns: boolean;
}

/** Stored breakdowns of open grants, by grant number. */
export type Breakdowns = ReadonlyMap<number, readonly UsageCell[]>;

/** How many closed grants the ledger remembers after their breakdowns were merged, to recognise a repeated close. */
const CLOSED_KEPT = 64;
const MARK_LENGTH = 16;

/**
 * Applies usage to a ledger. Pure. Usage is cumulative: in any order, any number of times, the result is the same. Closing a
 * grant adds its used permits to the account's sum for good. If a grant is not open, it is closed if its number was already given
 * out, and unknown otherwise.
 *
 * @param stored breakdowns, needed for grants that are closed without their whole breakdown
 */
export function decideOnUsage(
  before: Ledger,
  usage: readonly NumberedUsage[],
  stored: Breakdowns = new Map(),
): UsageDecision {
  let ledger = before;
  const raised: GrantUsage[] = [];
  const closed: string[] = [];
  let dropped = 0;
  let forgotten = 0;
  let needsBreakdowns = false;
  const verdicts = usage.map(({ number, secret, usage: given }): Verdict => {
    const grant = openGrantOf(ledger, number);
    if (!grant) {
      const verdict = verdictWithoutGrant(ledger, number, given);
      const billed = ledger.closed.find((closed) => closed.number === number)?.used;
      if (verdict === 'refused' && billed === undefined) forgotten += given.used;
      if (verdict === 'refused' && billed !== undefined) dropped += given.used - billed;
      return verdict;
    }
    const { sender = grant.holder } = given;
    if (grant.secret !== secret || sender !== grant.holder) return 'foreign';
    if (!fitsGrant(grant, given)) return 'impossible';
    if (given.closed) {
      needsBreakdowns ||= !hasWholeBreakdown(grant, given);
      ledger = withClosed(ledger, finalUse(ledger, grant, given, stored.get(number) ?? []));
      closed.push(given.grantId);
    } else {
      ledger = withUse(ledger, grant, given);
      if (given.cells.length > 0) raised.push(given);
    }
    return 'applied';
  });
  return { ledger, verdicts, raised, closed, dropped, forgotten, needsBreakdowns };
}

/** Returns the number of cells of closed grants whose breakdowns are not merged into the days. */
export function unmergedCells({ closed }: Ledger): number {
  return closed.reduce((sum, { cells = [] }) => sum + cells.length, 0);
}

/** Marks these grants' breakdowns as merged. */
export function withMerged(ledger: Ledger, numbers: ReadonlySet<number>): Ledger {
  const closed = ledger.closed.map((grant) =>
    numbers.has(grant.number) ? { ...grant, cells: undefined } : grant,
  );
  return { ...ledger, closed: closedToKeep(closed) };
}

/** Every grant below this number is closed and its breakdown is merged. */
export function mergedBelow({ grants, closed, nextGrant }: Ledger): number {
  const unmerged = closed.filter(({ cells }) => cells !== undefined);
  return [...grants, ...unmerged].reduce((least, { number }) => Math.min(least, number), nextGrant);
}

function verdictWithoutGrant(ledger: Ledger, number: number, { used, sender }: LedgerInput): Verdict {
  if (number >= ledger.nextGrant) return 'unknown';
  const grant = ledger.closed.find((closed) => closed.number === number);
  const isOwn = sender === undefined || sender.startsWith(grant?.holder ?? '');
  if (!isOwn) return 'foreign';
  const isBilled = grant !== undefined && grant.used >= used;
  return isBilled ? 'applied' : 'refused';
}

/**
 * Returns the final usage of a grant. If the close has the whole breakdown, it is the close's `used`. Otherwise it is the largest
 * of the ledger's `used`, the close's `used` and the sum of the known breakdown, as far as the grant has permits.
 */
function finalUse(
  { month }: Ledger,
  grant: OpenGrant,
  close: GrantUsage,
  stored: readonly UsageCell[],
): ClosedGrant {
  const { used, returned, cells } = close;
  const { number } = grant;
  const holder = markOf(grant.holder);
  if (hasWholeBreakdown(grant, close)) return { number, holder, used, cells };
  const known = largerCells(stored, cells);
  const most = grant.size - Math.max(grant.returned, returned);
  const final = Math.max(grant.used, used, Math.min(countOf(known), most));
  return { number, holder, used: final, cells: breakdownOf(known, final, month) };
}

function hasWholeBreakdown(grant: OpenGrant, { used, partial }: GrantUsage): boolean {
  return !partial && used >= grant.used;
}

function withUse(ledger: Ledger, grant: OpenGrant, { used, returned }: GrantUsage): Ledger {
  if (used <= grant.used && returned <= grant.returned) return ledger;
  const after = {
    ...grant,
    used: Math.max(grant.used, used),
    returned: Math.max(grant.returned, returned),
  };
  return { ...ledger, grants: ledger.grants.map((other) => (other === grant ? after : other)) };
}

function withClosed(ledger: Ledger, { number, holder, used, cells = [] }: ClosedGrant): Ledger {
  const final = { number, holder, used, cells: cells.length > 0 ? cells : undefined };
  return {
    ...ledger,
    closedUsed: ledger.closedUsed + used,
    grants: ledger.grants.filter((grant) => grant.number !== number),
    closed: closedToKeep([...ledger.closed, final]),
  };
}

/** Returns a closed grant that this ledger never had as an open one, billed as its holder reports it. */
export function closedFromReport(
  { month }: LedgerKey,
  {
    number,
    holder,
    used,
    cells,
  }: Pick<OpenGrant, 'number' | 'holder' | 'used'> & { cells: readonly UsageCell[] },
): ClosedGrant {
  const breakdown = breakdownOf(cells, used, month);
  return { number, holder: markOf(holder), used, cells: breakdown.length > 0 ? breakdown : undefined };
}

/** Keeps every grant whose breakdown is not merged, and the latest of the grants whose breakdown is. */
function closedToKeep(closed: readonly ClosedGrant[]): ClosedGrant[] {
  const surplus = closed.length - CLOSED_KEPT;
  return closed.filter(({ cells }, index) => cells !== undefined || index >= surplus);
}

/** Whether the grant has enough permits for this usage. A permit is either used or returned, never both. */
function fitsGrant(grant: OpenGrant, { used, returned }: GrantUsage): boolean {
  return Math.max(grant.used, used) + Math.max(grant.returned, returned) <= grant.size;
}

function openGrantOf({ grants }: Ledger, number: number): OpenGrant | undefined {
  return grants.find((grant) => grant.number === number);
}

/** 96 bits of a holder's key, by which a ledger recognises the holder of a closed grant. undefined: the holder has no key. */
function markOf(holder: string): string | undefined {
  return isHolderKey(holder) ? holder.slice(0, MARK_LENGTH) : undefined;
}
