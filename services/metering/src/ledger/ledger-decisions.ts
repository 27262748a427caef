import type { GrantUsage } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault } from '@brand-data/runtime';
import { createKeyedBatches } from './keyed-batches.ts';
import { type Ledger, type LedgerKey, ledgerIdOf, newLedger, parseGrantId, usedOf } from './ledger.ts';
import type { LedgerDatabase, StoredLedger } from './ledger-database.ts';
import type { StoreEvents } from './ledger-store.ts';
import { type Breakdowns, mergedBelow, unmergedCells, withMerged } from './ledger-usage.ts';
import { largerCells } from './usage-merge.ts';

/** A decision on a ledger, made again on each state of it until one is stored. */
export interface LedgerDecision {
  key: LedgerKey;
  decide(before: Ledger, stored: Breakdowns): LedgerChange;
}

interface LedgerChange {
  /** The very one that was decided on, when nothing changes. */
  ledger: Ledger;
  /** Breakdowns to be stored before it. */
  raised?: readonly GrantUsage[];
  /** Ids of grants that it closes. */
  closed?: readonly string[];
  /** It has to be made with the stored breakdowns. */
  needsBreakdowns?: boolean;
}

/** Stores decisions on ledgers, one ledger's one after the other: only replicas get into each other's way. */
export interface LedgerDecisions {
  /** Resolves once the decision is stored. Rejects with Fault `unavailable`. */
  store(decision: LedgerDecision): Promise<void>;
  /** Whether a decision on this ledger is being stored, or waits. */
  isBusy(key: LedgerKey): boolean;
}

const CONTENDS_FOR_MS = 2_500;
const LONGEST_PAUSE_MS = 50;
const MOST_WAITING = 1_000;

export function createLedgerDecisions({
  database,
  clock,
  events,
  random,
  mostUnmergedCells,
}: {
  database: LedgerDatabase;
  clock: Clock;
  events: Pick<StoreEvents, 'billed'>;
  random: () => number;
  /** Breakdowns of closed grants are merged into the days when a ledger holds more cells of them. */
  mostUnmergedCells: number;
}): LedgerDecisions {
  const readState = async (
    id: string,
    withBreakdowns: boolean,
  ): Promise<{ ledger: StoredLedger | undefined; breakdowns: Breakdowns }> => {
    if (withBreakdowns) return database.readWithBreakdowns(id);
    const [ledger] = await database.readLedgers([id]);
    return { ledger, breakdowns: new Map() };
  };

  /**
   * Keeps a ledger small: when its closed grants have many cells, the stored ones go to the days. A crash before the ledger
   * is stored leaves them in both. The next merge or read finds them in the days, and counts them once.
   */
  const mergeDue = async (before: Ledger, after: Ledger): Promise<Ledger> => {
    if (unmergedCells(after) <= mostUnmergedCells) return after;
    const stored = before.closed.flatMap(({ number, cells }) => (cells ? [{ number, cells }] : []));
    if (stored.length === 0) return after;
    await database.mergeIntoDays(before, stored, mergedBelow(before));
    return withMerged(after, new Set(stored.map(({ number }) => number)));
  };

  /** The decisions that wait for a ledger are made on one reading of it and stored by one write. */
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
      const isStored = stored
        ? (await database.replaceLedgers([{ before: stored, after }])) === 1
        : await database.insertLedger(after);
      if (isStored) {
        events.billed(usedOf(after) - usedOf(before));
        database.dropCells(change.closed);
        return;
      }
      // Another replica stored a change first, or the read was behind.
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

/** All decisions on one state, each on what the one before it leaves. */
function decideAll(
  before: Ledger,
  decisions: readonly LedgerDecision[],
  stored: Breakdowns,
): Required<LedgerChange> {
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

export function tooManyChanges(): Fault {
  return new Fault('unavailable', 'too many changes of this ledger at once: try again');
}
