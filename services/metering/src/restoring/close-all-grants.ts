import type { UsageCell } from '@brand-data/contracts';
import type { ClosedGrant, Ledger } from '../ledger/ledger.ts';
import { type Breakdowns, closedFromReport, decideOnUsage } from '../ledger/ledger-usage.ts';
import { largerCells } from '../ledger/usage-merge.ts';

/** A sender's report about a grant: the largest figures of all its messages. */
export interface ReportedGrant {
  grantId: string;
  number: number;
  secret: string;
  sender: string;
  used: number;
  returned: number;
  cells: UsageCell[];
}

/**
 * How many numbers of grants a restored ledger leaves out. A gateway may still report that it closes a grant which metering gave
 * out after the copy and which no message is about. The ledger refuses this report only if the grant's number counts as given
 * out.
 */
export const NUMBERS_LEFT_OUT = 1_000_000_000;

/**
 * Closes every grant of a restored ledger, and adds the grants that metering gave out after the ledger was copied, as closed ones.
 * Pure. All grants have ended, and `reported` has all their usage.
 *
 * A grant with a number that the ledger has not given out must have been given out later. The ledger cannot verify it. It is
 * billed if its holder's key has signed the usage and no other holder reports a grant with this number.
 */
export function closeAllGrants(
  before: Ledger,
  reported: readonly ReportedGrant[],
  stored: Breakdowns,
): { ledger: Ledger; closed: number; adopted: number; disputed: number } {
  const { known = [], later = [] } = Object.groupBy(reported, ({ number }) =>
    number < before.nextGrant ? 'known' : 'later',
  );
  const open = before.grants;
  let disputed = 0;

  // A known grant that is not open was billed for good before the copy.
  const own = known.filter(({ number }) => open.some((grant) => grant.number === number));
  const usage = own.map(({ grantId, number, secret, used, returned, cells, sender }) => ({
    number,
    secret,
    usage: { grantId, used, returned, cells, sender, closed: false, partial: true },
  }));
  const raised = decideOnUsage(before, usage);
  const breakdowns = new Map(stored);
  for (const [index, verdict] of raised.verdicts.entries()) {
    const grant = own[index];
    if (!grant) continue;
    if (verdict === 'applied')
      breakdowns.set(grant.number, largerCells(breakdowns.get(grant.number) ?? [], grant.cells));
    else disputed += grant.used;
  }
  const asKnown = open.map(({ number, secret }) => ({
    number,
    secret,
    usage: { grantId: '', used: 0, returned: 0, closed: true, cells: [], partial: true },
  }));
  let { ledger } = decideOnUsage(raised.ledger, asKnown, breakdowns);

  const adopted: ClosedGrant[] = [];
  for (const [number, claims] of Map.groupBy(later, (grant) => grant.number)) {
    const [claim] = claims;
    if (claim === undefined) continue;
    if (claims.length > 1 || claim.sender === '') disputed += claims.reduce((sum, { used }) => sum + used, 0);
    else adopted.push(closedFromReport(ledger, { ...claim, holder: claim.sender }));
    ledger = { ...ledger, nextGrant: Math.max(ledger.nextGrant, number + 1) };
  }
  ledger = {
    ...ledger,
    closedUsed: adopted.reduce((sum, { used }) => sum + used, ledger.closedUsed),
    closed: [...ledger.closed, ...adopted],
  };
  return { ledger, closed: open.length, adopted: adopted.length, disputed };
}
