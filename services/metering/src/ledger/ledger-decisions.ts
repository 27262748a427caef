import type { GrantUsage } from '@brand-data/contracts';
import { type Clock, createKeyedBatches, elapsedMs } from '@brand-data/runtime';
import { type Ledger, type LedgerKey, ledgerIdOf, newLedger, parseGrantId } from './ledger.ts';
import type { LedgerDatabase, StoredLedger } from './ledger-database.ts';
import type { StoreEvents } from './ledger-store.ts';
import { type Breakdowns, mergedBelow, unmergedCells, withMerged } from './ledger-usage.ts';
import { createSharedCommands } from './shared-commands.ts';
import { tooManyChanges } from './too-many-changes.ts';
import { largerCells } from './usage-merge.ts';

/** A decision on a ledger. If the ledger has changed before the result is stored, it is made again on the newer state. */
export interface LedgerDecision {
  key: LedgerKey;
  decide(before: Ledger, stored: Breakdowns): Decided;
}

interface Decided {
  /** The same object as the input if nothing changes. */
  ledger: Ledger;
  /** Breakdowns of open grants that must be stored before the ledger. */
  raised?: readonly GrantUsage[];
  /** Ids of the grants that this change closes. */
  closed?: readonly string[];
  /** The decision must be repeated with the stored breakdowns as an input. */
  needsBreakdowns?: boolean;
}

/**
 * Stores decisions on ledgers. Within one process, the decisions on a ledger are made one after another, so only other replicas
 * can conflict with them.
 */
export interface LedgerDecisions {
  /** Resolves once the decision is stored. Rejects with Fault `unavailable`. */
  store(decision: LedgerDecision): Promise<void>;
  /** Whether a decision on this ledger is being stored or is waiting. */
  isBusy(key: LedgerKey): boolean;
}

const CONTENDS_FOR_MS = 2_500;
const LONGEST_PAUSE_MS = 50;
const MOST_WAITING = 1_000;

export function createLedgerDecisions({
  database,
  clock,
  events,
  beforeNewLimit,
  random,
  mostUnmergedCells,
}: {
  database: LedgerDatabase;
  clock: Clock;
  events: Pick<StoreEvents, 'changed'>;
  beforeNewLimit: (ledger: Ledger) => Promise<void>;
  random: () => number;
  /** If a ledger holds more cells of closed grants than this, their breakdowns are merged into the days. */
  mostUnmergedCells: number;
}): LedgerDecisions {
  const commands = createSharedCommands(database);

  const readState = async (
    id: string,
    withBreakdowns: boolean,
  ): Promise<{ ledger: StoredLedger | undefined; breakdowns: Breakdowns }> => {
    if (withBreakdowns) return database.readWithBreakdowns(id);
    return { ledger: await commands.read(id), breakdowns: new Map() };
  };

  /**
   * Keeps a ledger small. If its closed grants have many cells, this merges the breakdowns of the grants that the stored ledger
   * has as closed into the days. If the replica crashes before the ledger is stored, these breakdowns are in both places. The
   * next merge or read finds the grants in the days and counts them once.
   */
  const mergeDue = async (before: Ledger, after: Ledger): Promise<Ledger> => {
    if (unmergedCells(after) <= mostUnmergedCells) return after;
    const stored = before.closed.flatMap(({ number, cells }) => (cells ? [{ number, cells }] : []));
    if (stored.length === 0) return after;
    await database.mergeIntoDays(before, stored, mergedBelow(before));
    return withMerged(after, new Set(stored.map(({ number }) => number)));
  };

  /** Makes all waiting decisions on a ledger from one read of it, and stores the result with one write. */
  const storeAll = async (decisions: readonly LedgerDecision[]): Promise<void> => {
    const [first] = decisions;
    if (!first) return;
    const { key } = first;
    const began = clock.now();
    let withBreakdowns = false;
    for (let attempt = 1; elapsedMs(began, clock.now()) < CONTENDS_FOR_MS; attempt++) {
      const { ledger: stored, breakdowns } = await readState(ledgerIdOf(key), withBreakdowns);
      const before = stored ?? newLedger(key);
      const change = decideAll(before, decisions, breakdowns);
      if (change.needsBreakdowns && !withBreakdowns) {
        withBreakdowns = true;
        continue;
      }
      if (change.raised.length > 0) await database.raiseCells(change.raised);
      if (change.ledger === before) return;
      const after = change.closed.length > 0 ? await mergeDue(before, change.ledger) : change.ledger;
      if (stored && after.limit !== stored.limit) await beforeNewLimit(stored);
      if (await commands.store({ before: stored, after })) {
        events.changed(before, after);
        database.dropCells(change.closed);
        return;
      }
      // Another replica stored a change first, or the read showed an old state.
      await clock.sleep(1 + random() * Math.min(4 * attempt, LONGEST_PAUSE_MS));
    }
    throw tooManyChanges();
  };

  const batches = createKeyedBatches(storeAll, { most: MOST_WAITING, tooMany: tooManyChanges });
  return {
    store: (decision) => batches.add(ledgerIdOf(decision.key), decision),
    isBusy: (key) => batches.isBusy(ledgerIdOf(key)),
  };
}

/** Makes the decisions one after another, each on the ledger that the previous one returned. */
function decideAll(
  before: Ledger,
  decisions: readonly LedgerDecision[],
  stored: Breakdowns,
): Required<Decided> {
  const known = new Map(stored);
  const all = { ledger: before, raised: [] as GrantUsage[], closed: [] as string[], needsBreakdowns: false };
  for (const { decide } of decisions) {
    const { ledger, raised = [], closed = [], needsBreakdowns = false } = decide(all.ledger, known);
    for (const { grantId, cells } of raised) {
      const number = parseGrantId(grantId)?.number ?? 0;
      known.set(number, largerCells(known.get(number) ?? [], cells));
    }
    all.ledger = ledger;
    all.raised.push(...raised);
    all.closed.push(...closed);
    all.needsBreakdowns ||= needsBreakdowns;
  }
  return all;
}
