import type { GrantUsage, UsageCell } from '@brand-data/contracts';
import { type Clock, createKeyedBatches, elapsedMs, type KeyedBatches } from '@brand-data/runtime';
import {
  CHANGING_FIELDS,
  type Ledger,
  type LedgerKey,
  ledgerIdOf,
  newLedger,
  parseGrantId,
} from './ledger.ts';
import type { LedgerDatabase, Stored, StoredLedger, UseChange } from './ledger-database.ts';
import {
  type Breakdowns,
  mergedBelow,
  type UsageDecision,
  unmergedCells,
  withMerged,
} from './ledger-usage.ts';
import { SharedCommands, tooManyChanges } from './shared-commands.ts';
import { largerCells } from './usage-merge.ts';

/** A decision on a ledger. If the ledger has changed before the result is stored, it is made again on the newer state. */
export interface LedgerDecision {
  key: LedgerKey;
  /**
   * @param stored the breakdowns of the open grants, if a decision needs them
   * @param isOver whether the database opens no grant of this month any more
   */
  decide(before: Ledger, stored: Breakdowns | undefined, isOver: boolean): Decided;
}

type Decided = Pick<UsageDecision, 'ledger'> &
  Partial<Pick<UsageDecision, 'raised' | 'closed' | 'needsBreakdowns'>>;

const CONTENDS_FOR_MS = 2_500;
const LONGEST_PAUSE_MS = 50;
const MOST_WAITING = 1_000;

export interface LedgerQueueParts {
  database: LedgerDatabase;
  clock: Clock;
  changed: (before: Ledger, after: Ledger) => void;
  /**
   * Called before a limit changes, with the ledger as it would be with the old limit, and with the usage that is stored by the same
   * write. The change is made once it resolves, and fails if it rejects.
   */
  beforeNewLimit: (ledger: Ledger) => Promise<void>;
  random: () => number;
  /** If a ledger holds more cells of closed grants than this, their breakdowns are merged into the days. */
  mostUnmergedCells: number;
}

/**
 * Stores decisions on ledgers. Within one process, the decisions on a ledger are made one after another, so only other replicas
 * can conflict with them.
 */
export class LedgerQueue {
  readonly #parts: LedgerQueueParts;
  readonly #commands: SharedCommands;
  readonly #batches: KeyedBatches<LedgerDecision, void>;

  constructor(parts: LedgerQueueParts) {
    this.#parts = parts;
    this.#commands = new SharedCommands(parts.database);
    this.#batches = createKeyedBatches((decisions) => this.#storeAll(decisions), {
      most: MOST_WAITING,
      tooMany: tooManyChanges,
    });
  }

  /** Resolves once the decision is stored. Rejects with Fault `unavailable`. */
  store(decision: LedgerDecision): Promise<void> {
    return this.#batches.add(ledgerIdOf(decision.key), decision);
  }

  /** Makes all waiting decisions on a ledger from one read of it, and stores the result with one write. */
  async #storeAll(decisions: readonly LedgerDecision[]): Promise<void> {
    const [first] = decisions;
    if (!first) return;
    const { key } = first;
    const id = ledgerIdOf(key);
    const { clock, database, random } = this.#parts;
    const began = clock.now();
    let withBreakdowns = false;
    let isOver = false;
    for (let attempt = 1; elapsedMs(began, clock.now()) < CONTENDS_FOR_MS; attempt++) {
      const { ledger: stored, breakdowns } = withBreakdowns
        ? await database.readWithBreakdowns(id)
        : { ledger: await this.#commands.read(id), breakdowns: undefined };
      const change = decideAll(stored ?? newLedger(key), decisions, breakdowns, isOver);
      if (change.needsBreakdowns && !withBreakdowns) {
        withBreakdowns = true;
        continue;
      }
      const isStored = await this.#write(stored, change);
      if (isStored === true) return;
      isOver ||= isStored === 'over';
      // Another replica stored a change first, or the read showed an old state.
      await clock.sleep(1 + random() * Math.min(4 * attempt, LONGEST_PAUSE_MS));
    }
    throw tooManyChanges();
  }

  /** Returns whether the change is stored. */
  async #write(
    stored: StoredLedger | undefined,
    { before, ledger, raised, closed }: Change,
  ): Promise<Stored> {
    if (raised.length > 0) await this.#commands.raiseCells(raised);
    if (ledger === before) return true;
    const use = stored && useChange(stored, ledger);
    const after = closed.length > 0 ? await this.#mergeDue(before, ledger) : ledger;
    if (stored && after.limit !== stored.limit)
      await this.#parts.beforeNewLimit({ ...after, limit: stored.limit });
    const isStored = use
      ? await this.#commands.replaceUse(use)
      : await this.#commands.storeLedger({ before: stored, after });
    if (isStored !== true) return isStored;
    this.#parts.changed(before, after);
    if (closed.length > 0) this.#commands.dropCells(closed);
    return true;
  }

  /**
   * Keeps a ledger small. If its closed grants have many cells, this merges the breakdowns of the grants that the stored ledger
   * has as closed into the days. If the replica crashes before the ledger is stored, these breakdowns are in both places. The
   * next merge or read finds the grants in the days and counts them once.
   */
  async #mergeDue(before: Ledger, after: Ledger): Promise<Ledger> {
    if (unmergedCells(after) <= this.#parts.mostUnmergedCells) return after;
    const stored = before.closed.flatMap(({ number, cells }) => (cells ? [{ number, cells }] : []));
    if (stored.length === 0) return after;
    await this.#parts.database.mergeIntoDays(before, stored, mergedBelow(before));
    return withMerged(after, new Set(stored.map(({ number }) => number)));
  }
}

interface Change extends Required<Decided> {
  before: Ledger;
}

/** Makes the decisions one after another, each on the ledger that the previous one returned. */
function decideAll(
  before: Ledger,
  decisions: readonly LedgerDecision[],
  stored: Breakdowns | undefined,
  isOver: boolean,
): Change {
  const known = stored && new Map(stored);
  const raised: GrantUsage[] = [];
  const closed: string[] = [];
  let ledger = before;
  let needsBreakdowns = false;
  for (const { decide } of decisions) {
    const decided = decide(ledger, known, isOver);
    ledger = decided.ledger;
    if (decided.raised) raised.push(...decided.raised);
    if (decided.closed) closed.push(...decided.closed);
    needsBreakdowns ||= decided.needsBreakdowns === true;
    if (known) for (const usage of decided.raised ?? []) raiseIn(known, usage);
  }
  return { before, ledger, raised, closed, needsBreakdowns };
}

function raiseIn(known: Map<number, readonly UsageCell[]>, { grantId, cells }: GrantUsage): void {
  const number = parseGrantId(grantId)?.number ?? 0;
  known.set(number, largerCells(known.get(number) ?? [], cells));
}

/**
 * Returns the open grants whose usage changes, if nothing else of the ledger changes. Other replicas may change the ledger's other
 * grants at the same time. Of an open grant only the used and the returned permits ever change.
 */
function useChange(before: StoredLedger, after: Ledger): UseChange | undefined {
  const isSame = CHANGING_FIELDS.every((field) => field === 'grants' || after[field] === before[field]);
  if (!isSame || after.grants.length !== before.grants.length) return undefined;
  const grants = before.grants.flatMap((grant, index) => {
    const now = after.grants[index];
    return now && now !== grant ? [{ before: grant, after: now }] : [];
  });
  const isUse = grants.length > 0 && grants.every((grant) => grant.before.number === grant.after.number);
  return isUse ? { ledger: before, grants } : undefined;
}
