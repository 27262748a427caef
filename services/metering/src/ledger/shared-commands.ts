import { createKeyedBatches } from '@brand-data/runtime';
import { ledgerIdOf } from './ledger.ts';
import type { LedgerChange, LedgerDatabase, StoredLedger } from './ledger-database.ts';
import { tooManyChanges } from './too-many-changes.ts';

/** Reads, and writes, that run at once. */
const LANES = 4;
/** Reads, and writes, that wait for the next command of one lane. */
const MOST_WAITING = 1_000;

/** Reads and stores single ledgers. Both reject with Fault `unavailable`. */
export interface SharedCommands {
  /** undefined: there is no such ledger. */
  read(id: string): Promise<StoredLedger | undefined>;
  /** Whether the change is stored. See LedgerDatabase. */
  store(change: LedgerChange): Promise<boolean>;
}

/**
 * While commands to the database are under way, further ledgers wait and share the next command. So when many accounts need permits
 * at once, such as after the start of a gateway, metering sends few commands with many ledgers each.
 */
export function createSharedCommands(
  database: Pick<LedgerDatabase, 'readLedgers' | 'storeLedgers'>,
): SharedCommands {
  const bounds = { most: MOST_WAITING, tooMany: tooManyChanges };
  const reads = createKeyedBatches(async (ids: readonly string[]) => {
    const found = await database.readLedgers(ids);
    return new Map(found.map((ledger) => [ledgerIdOf(ledger), ledger]));
  }, bounds);
  const writes = createKeyedBatches(async (changes: readonly LedgerChange[]) => {
    const stored = await database.storeLedgers(changes);
    return new Map(changes.map((change, index) => [change, stored[index] === true]));
  }, bounds);
  let turn = 0;
  const nextLane = () => String(turn++ % LANES);
  return {
    read: async (id) => (await reads.add(nextLane(), id)).get(id),
    store: async (change) => (await writes.add(nextLane(), change)).get(change) === true,
  };
}
