import type { GrantUsage } from '@brand-data/contracts';
import { type Ledger, ledgerIdOf, newLedger } from './ledger.ts';
import type { LedgerDatabase, StoredLedger, UseChange } from './ledger-database.ts';
import type { StoreEvents } from './ledger-store.ts';
import { applyUsage, needsBreakdowns, unmergedCells } from './ledger-usage.ts';
import type { LedgerUsage, Verdicts } from './usage-by-ledger.ts';

/**
 * Applies the usage of many ledgers with a few commands to the database.
 *
 * @returns `left`: the usage of ledgers whose change needs more commands, or which another replica was changing. The caller has to
 * decide on each of these ledgers again, one by one.
 */
export async function applyAtOnce(
  usages: readonly LedgerUsage[],
  {
    database,
    events,
    mostUnmergedCells,
  }: {
    database: LedgerDatabase;
    events: Pick<StoreEvents, 'changed'>;
    mostUnmergedCells: number;
  },
): Promise<{ done: Verdicts[]; left: LedgerUsage[] }> {
  if (usages.length === 0) return { done: [], left: [] };
  const read = await database.readLedgers(usages.map(({ key }) => ledgerIdOf(key)));
  const stored = new Map(read.map((ledger) => [ledgerIdOf(ledger), ledger]));
  const done: Verdicts[] = [];
  const left: LedgerUsage[] = [];
  const changes: { before: StoredLedger; after: Ledger; verdicts: Verdicts; closed: string[] }[] = [];
  const raised: GrantUsage[] = [];
  for (const of of usages) {
    const before = stored.get(ledgerIdOf(of.key));
    const decision = applyUsage(before ?? newLedger(of.key), of.usage, undefined);
    const verdicts = { of, verdicts: decision.verdicts };
    if (!before) done.push(verdicts);
    else if (
      decision.dropped + decision.forgotten > 0 ||
      needsBreakdowns(before, of.usage) ||
      (decision.closed.length > 0 && unmergedCells(decision.ledger) > mostUnmergedCells)
    )
      left.push(of);
    else {
      raised.push(...decision.raised);
      if (decision.ledger === before) done.push(verdicts);
      else changes.push({ before, after: decision.ledger, verdicts, closed: decision.closed });
    }
  }
  if (raised.length > 0) await database.raiseCells(raised);
  const { closing = [], using = [] } = Object.groupBy(changes, ({ before, after }) =>
    after.closed === before.closed ? 'using' : 'closing',
  );
  const answers = await Promise.all([
    closing.length === 0 ? [] : database.storeLedgers(closing),
    using.length === 0 ? [] : database.replaceUse(using.map(useChange)),
  ]);
  const isStored = answers.flat();
  const { stored: made = [], lost = [] } = Object.groupBy([...closing, ...using], (_, index) =>
    isStored[index] ? 'stored' : 'lost',
  );
  for (const { before, after } of made) events.changed(before, after);
  database.dropCells(made.flatMap(({ closed }) => closed));
  left.push(...lost.map(({ verdicts }) => verdicts.of));
  return { done: [...done, ...made.map(({ verdicts }) => verdicts)], left };
}

/** The open grants that usage changes. Other replicas may be changing the ledger's other grants. */
function useChange({ before, after }: { before: StoredLedger; after: Ledger }): UseChange {
  const grants = before.grants.flatMap((grant, index) => {
    const now = after.grants[index];
    return now && now !== grant ? [{ before: grant, after: now }] : [];
  });
  return { ledger: before, grants };
}
