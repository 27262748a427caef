import type { GrantUsage, UsageCell } from '@brand-data/contracts';
import { type ClosedGrant, grantIdOf, type Ledger, type LedgerKey, type OpenGrant } from './ledger.ts';
import { ALL_RULES, type LedgerRules } from './ledger-rules.ts';
import { fitsGrant } from './usage-check.ts';
import { breakdownOf, countOf, largerCells } from './usage-merge.ts';

/** A ledger's verdict on usage of one grant. */
export type Verdict =
  /** It is billed. */
  | 'applied'
  /** Its grant was given out and is closed with less: it will never be billed. */
  | 'refused'
  /** The grant holds fewer permits than were reported as used and returned: its holder is at fault. */
  | 'impossible'
  /** The ledger has not given out such a grant in this state; in a later one it may have. */
  | 'unknown';

/** Usage of one of the ledger's grants. */
export interface NumberedUsage {
  number: number;
  usage: GrantUsage;
}

export interface UsageDecision {
  /** As it must be stored before the verdicts are answered; the very one that was given, when nothing changes. */
  ledger: Ledger;
  verdicts: Verdict[];
  /** Breakdowns of grants that stay open, to be stored before the ledger. */
  raised: GrantUsage[];
  /** Numbers of the grants that this closes. */
  closed: number[];
  /** Calls in refused usage, beyond the calls that its grant is billed with. */
  dropped: number;
  /** Calls in refused usage of grants that the ledger has forgotten: most likely they are billed. */
  forgotten: number;
}

/** Breakdowns of open grants, as they are stored, by grant number. */
export type Breakdowns = ReadonlyMap<number, readonly UsageCell[]>;

/** Closed grants that the ledger keeps after their breakdown was merged, to recognise a close that comes again. */
const CLOSED_KEPT = 64;

/** Whether the stored breakdowns are needed to decide: for a close that does not bring the whole breakdown. */
export function needsBreakdowns(ledger: Ledger, usage: readonly NumberedUsage[]): boolean {
  return usage.some(({ number, usage: { closed, partial, used } }) => {
    if (!closed) return false;
    const grant = openGrantOf(ledger, number);
    return grant !== undefined && (partial || used < grant.used);
  });
}

/**
 * Applies usage to a ledger. Pure. Cumulative: any order, any number of times, the same ledger. Closing takes a grant's use
 * into the account's sum, for good; a grant that is not open has been closed only if the ledger has given out its number.
 *
 * @param stored of the grants that are closed without bringing their whole breakdown
 */
export function applyUsage(
  before: Ledger,
  usage: readonly NumberedUsage[],
  stored: Breakdowns = new Map(),
  rules: LedgerRules = ALL_RULES,
): UsageDecision {
  let ledger = before;
  const raised: GrantUsage[] = [];
  const closed: number[] = [];
  let dropped = 0;
  let forgotten = 0;
  const verdicts = usage.map(({ number, usage: given }): Verdict => {
    const grant = openGrantOf(ledger, number);
    if (!grant) {
      const verdict = verdictWithoutGrant(ledger, number, given, rules);
      const billed = ledger.closed.find((closed) => closed.number === number)?.used;
      if (verdict === 'refused' && billed === undefined) forgotten += given.used;
      if (verdict === 'refused' && billed !== undefined) dropped += given.used - billed;
      const isBilledTwice = given.closed ? !rules.closedOnlyOnce : !rules.closedEventsDropped;
      if (isBilledTwice && number < ledger.nextGrant) ledger = withClosed(ledger, { number, ...given });
      return verdict;
    }
    if (!fitsGrant(grant, given)) return 'impossible';
    if (given.closed) {
      ledger = withClosed(ledger, finalUse(ledger, grant, given, stored.get(number) ?? []));
      closed.push(number);
    } else {
      ledger = withUse(ledger, grant, given);
      if (given.cells.length > 0) raised.push(given);
    }
    return 'applied';
  });
  return { ledger, verdicts, raised, closed, dropped, forgotten };
}

/** How many cells closed grants hold that are not merged into the days. */
export function unmergedCells({ closed }: Ledger): number {
  return closed.reduce((sum, { cells = [] }) => sum + cells.length, 0);
}

/** The ledger after the breakdowns of these grants were merged. */
export function withMerged(ledger: Ledger, numbers: ReadonlySet<number>): Ledger {
  const closed = ledger.closed.map((grant) =>
    numbers.has(grant.number) ? { ...grant, cells: undefined } : grant,
  );
  return { ...ledger, closed: closedToKeep(closed) };
}

/** All grants below this number are closed, and their breakdowns merged. */
export function mergedBelow({ grants, closed, nextGrant }: Ledger): number {
  const unmerged = closed.filter(({ cells }) => cells !== undefined);
  return [...grants, ...unmerged].reduce((least, { number }) => Math.min(least, number), nextGrant);
}

function verdictWithoutGrant(
  ledger: Ledger,
  number: number,
  { used }: GrantUsage,
  rules: LedgerRules,
): Verdict {
  if (number >= ledger.nextGrant) return rules.refusedOnlyIfProven ? 'unknown' : 'refused';
  const isBilled = ledger.closed.some((grant) => grant.number === number && grant.used >= used);
  return isBilled || !rules.closedReportsRefused ? 'applied' : 'refused';
}

/** The final use of a grant: the largest of the ledger's, its stored breakdown's and its close's figure. */
function finalUse(
  { month }: Ledger,
  grant: OpenGrant,
  { used, returned, partial, cells }: GrantUsage,
  stored: readonly UsageCell[],
): Omit<ClosedGrant, 'cells'> & { cells: UsageCell[] } {
  const { number } = grant;
  if (!partial && used >= grant.used) return { number, used, cells };
  const known = largerCells(stored, cells);
  const most = grant.size - Math.max(grant.returned, returned);
  const final = Math.max(grant.used, used, Math.min(countOf(known), most));
  return { number, used: final, cells: breakdownOf(known, final, month) };
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

function withClosed(ledger: Ledger, { number, used, cells = [] }: ClosedGrant): Ledger {
  const final = { number, used, cells: cells.length > 0 ? cells : undefined };
  return {
    ...ledger,
    closedUsed: ledger.closedUsed + used,
    grants: ledger.grants.filter((grant) => grant.number !== number),
    closed: closedToKeep([...ledger.closed, final]),
  };
}

/** All grants that are not merged, and the latest of the others. */
function closedToKeep(closed: readonly ClosedGrant[]): ClosedGrant[] {
  const surplus = closed.length - CLOSED_KEPT;
  return closed.filter(({ cells }, index) => cells !== undefined || index >= surplus);
}

function openGrantOf({ grants }: Ledger, number: number): OpenGrant | undefined {
  return grants.find((grant) => grant.number === number);
}

/** The ids of those grants of a ledger. */
export function grantIdsOf(key: LedgerKey, numbers: readonly number[]): string[] {
  return numbers.map((number) => grantIdOf(key, number));
}
