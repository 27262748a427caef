import { createKeyedBatches, Fault, type KeyedBatches } from '@brand-data/runtime';
import { ledgerIdOf } from './ledger.ts';
import type { GrantCells, LedgerChange, LedgerDatabase, StoredLedger, UseChange } from './ledger-database.ts';

/** Commands of one kind that run at once. */
const LANES = 4;
/** Ledgers that wait for the next command of one lane. */
const MOST_WAITING = 1_000;

type Commands<Item, Result> = (item: Item) => Promise<Result>;

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
  readonly storeLedger: Commands<LedgerChange, boolean>;
  /** Returns whether the change is stored. See `replaceUse` of LedgerDatabase. */
  readonly replaceUse: Commands<UseChange, boolean>;
  /** See `dropCells` of LedgerDatabase. Does not throw: a breakdown that is not deleted expires. */
  readonly dropCells: (grantIds: readonly string[]) => void;
  #lane = 0;
  #isLaneTaken = false;

  constructor(database: LedgerDatabase) {
    const read = this.#inLanes(async (ids: readonly string[]) => {
      const ledgers = await database.readLedgers(ids);
      return new Map(ledgers.map((ledger) => [ledgerIdOf(ledger), ledger]));
    });
    this.read = async (id) => (await read(id)).get(id);
    this.raiseCells = this.#inLanes((grants: readonly (readonly GrantCells[])[]) =>
      database.raiseCells(grants.flat()),
    );
    this.storeLedger = this.#writes((changes) => database.storeLedgers(changes));
    this.replaceUse = this.#writes((changes) => database.replaceUse(changes));
    const drop = this.#inLanes(async (grantIds: readonly (readonly string[])[]) =>
      database.dropCells(grantIds.flat()),
    );
    this.dropCells = (grantIds) => void drop(grantIds).catch(() => {});
  }

  #writes<Change>(write: (changes: readonly Change[]) => Promise<boolean[]>): Commands<Change, boolean> {
    const run = this.#inLanes(async (changes: readonly Change[]) => {
      const stored = await write(changes);
      return new Map(changes.map((change, index) => [change, stored[index] === true]));
    });
    return async (change) => (await run(change)).get(change) === true;
  }

  #inLanes<Item, Result>(run: (items: readonly Item[]) => Promise<Result>): Commands<Item, Result> {
    const batches: KeyedBatches<Item, Result> = createKeyedBatches(run, {
      most: MOST_WAITING,
      tooMany: tooManyChanges,
    });
    return (item) => batches.add(this.#laneNow(), item);
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
