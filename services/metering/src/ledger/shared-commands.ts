import { createKeyedBatches, Fault } from '@brand-data/runtime';
import { ledgerIdOf } from './ledger.ts';
import type {
  GrantCells,
  LedgerChange,
  LedgerDatabase,
  Stored,
  StoredLedger,
  UseChange,
} from './ledger-database.ts';

/** Commands of one kind that run at once. */
const LANES = 4;
/** Ledgers that wait for the next command of one lane. */
const MOST_WAITING = 1_000;

/**
 * The commands to the database of which each is about many ledgers. Ledgers that come in the same moment share a command. While
 * commands are under way, further ledgers wait and share the next one. When many accounts need permits at once, such as after the
 * start of a gateway, or when a batch of usage is about many accounts, metering sends few commands with many ledgers each. Every
 * method but `dropCells` rejects with Fault `unavailable`.
 */
export class SharedCommands {
  /** Returns undefined if the ledger does not exist. */
  readonly read: (id: string) => Promise<StoredLedger | undefined>;
  /** See `raiseCells` of LedgerDatabase. */
  readonly raiseCells: (grants: readonly GrantCells[]) => Promise<void>;
  /** Returns whether the change is stored. See `storeLedgers` of LedgerDatabase. */
  readonly storeLedger: (change: LedgerChange) => Promise<Stored>;
  /** Returns whether the change is stored. See `replaceUse` of LedgerDatabase. */
  readonly replaceUse: (change: UseChange) => Promise<Stored>;
  /** See `dropCells` of LedgerDatabase. Does not throw: a breakdown that is not deleted expires. */
  readonly dropCells: (grantIds: readonly string[]) => void;
  #lane = 0;
  #isLaneTaken = false;

  constructor(database: LedgerDatabase) {
    this.read = this.#shared(async (ids: readonly string[]) => {
      const ledgers = await database.readLedgers(ids);
      const byId = new Map(ledgers.map((ledger) => [ledgerIdOf(ledger), ledger]));
      return (id) => byId.get(id);
    });
    this.raiseCells = this.#shared(async (grants: readonly (readonly GrantCells[])[]) => {
      await database.raiseCells(grants.flat());
      return () => {};
    });
    this.storeLedger = this.#sharedWrite((changes) => database.storeLedgers(changes));
    this.replaceUse = this.#sharedWrite((changes) => database.replaceUse(changes));
    const drop = this.#shared(async (grantIds: readonly (readonly string[])[]) => {
      database.dropCells(grantIds.flat());
      return () => {};
    });
    this.dropCells = (grantIds) => void drop(grantIds).catch(() => {});
  }

  #sharedWrite<Change>(write: (changes: readonly Change[]) => Promise<Stored[]>) {
    return this.#shared(async (changes: readonly Change[]) => {
      const stored = await write(changes);
      const isStored = new Map(changes.map((change, index) => [change, stored[index]]));
      return (change) => isStored.get(change) ?? false;
    });
  }

  /** @param run resolves to a function that returns the result for an item */
  #shared<Item, Result>(run: (items: readonly Item[]) => Promise<(item: Item) => Result>) {
    const batches = createKeyedBatches(run, { most: MOST_WAITING, tooMany: tooManyChanges });
    return (item: Item): Promise<Result> =>
      batches.add(this.#laneNow(), item).then((resultOf) => resultOf(item));
  }

  /** Returns the same lane to all that ask in the same moment, and then the next one. */
  #laneNow(): string {
    if (!this.#isLaneTaken) {
      this.#isLaneTaken = true;
      this.#lane = (this.#lane + 1) % LANES;
      queueMicrotask(() => {
        this.#isLaneTaken = false;
      });
    }
    return String(this.#lane);
  }
}

export function tooManyChanges(): Fault {
  return new Fault('unavailable', 'too many changes of ledgers at once: try again');
}
