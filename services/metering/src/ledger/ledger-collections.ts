import { addMonths, boundsOfMonth, MONTHS_KEPT, type UsageCell } from '@brand-data/contracts';
import { answerWithin, type Mongo } from '@brand-data/runtime';
import {
  type ClientSession,
  MongoBulkWriteError,
  ReadConcern,
  ReadPreference,
  WriteConcern,
  type WriteError,
} from 'mongodb';
import type { StoredLedger } from './ledger-database.ts';
import { cellFromName, cellName } from './usage-merge.ts';

export interface LedgerDoc extends StoredLedger {
  _id: string;
  /** When the ledger's first open grant ends, by the wall clock. Absent: no grant is open. */
  overdueAtMs?: number | undefined;
  expiresAt: Date;
}

/** Counts by the names of their cells. The names contain neither dots nor dollar signs. */
export type Counts = Record<string, number>;

/** An open grant's breakdown. It is not part of the ledger, so that the ledger stays small. */
export interface GrantCellsDoc {
  _id: string;
  ledgerId: string;
  cells: Counts;
  /** A crash or a concurrent close may leave a document that no ledger refers to. This document expires at this time. */
  expiresAt: Date;
}

/** The merged breakdowns of a ledger's closed grants on one day. */
export interface DayDoc {
  _id: string;
  ledgerId: string;
  day: string;
  cells?: Counts;
  mergedBelow: number;
  merged: number[];
  expiresAt: Date;
}

/** The concerns of every read and write of ledgers. They override the connection's own settings. */
export const CONCERNS = {
  readConcern: new ReadConcern('majority'),
  writeConcern: new WriteConcern('majority', undefined, true),
  readPreference: ReadPreference.primary,
};

/** Returns the collections of the ledgers and of their breakdowns. */
export function ledgerCollections(db: Mongo['db']) {
  return {
    ledgers: db.collection<LedgerDoc>('ledgers', CONCERNS),
    grantCells: db.collection<GrantCellsDoc>('grant_breakdowns', CONCERNS),
    days: db.collection<DayDoc>('daily_breakdowns', CONCERNS),
  };
}

/** When MongoDB removes what belongs to a month. */
export function expiryOf({ month }: { month: string }): Date {
  return new Date(boundsOfMonth(addMonths(month, MONTHS_KEPT)).startMs);
}

export function cellsFromCounts(counts: Counts): UsageCell[] {
  return Object.entries(counts).map(([name, count]) => cellFromName(name, count));
}

/** Returns the counts of these cells under their fields' paths in a document. */
export function countsAt(field: string, cells: readonly UsageCell[]): Counts {
  return Object.fromEntries(cells.map((cell) => [`${field}.${cellName(cell)}`, cell.count]));
}

const ANSWER_WITHIN_MS = 3_000;

/**
 * Rejects with Fault `unavailable` if the ledgers do not answer in time. A write that was already sent may still take effect.
 */
export function withLedgerDeadline<T>(answer: Promise<T>): Promise<T> {
  return answerWithin(answer, {
    withinMs: ANSWER_WITHIN_MS,
    detail: 'the ledgers did not answer in time: try again',
  });
}

/** Options of a read in a snapshot. */
export interface InSnapshot {
  session: ClientSession;
  readConcern: 'snapshot';
}

/** Runs all reads on one snapshot that a majority has stored. */
export function asOfOneMoment<T>(
  { client }: Mongo,
  read: (inSnapshot: InSnapshot) => Promise<T>,
): Promise<T> {
  return withLedgerDeadline(
    client.withSession({ snapshot: true }, (session) => read({ session, readConcern: 'snapshot' })),
  );
}

/**
 * Returns the writes of a bulk, by their places, that failed because their condition did not hold. All other writes are durable.
 * Throws the error if anything else failed.
 */
export function unmetWrites(
  error: unknown,
  isUnmet: (failure: WriteError) => boolean,
): Map<number, WriteError> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const failures = [error.writeErrors].flat();
  // Without the failure of a write, the error is one of the whole command. An election may then take the writes back.
  const isOfCommand = failures.length === 0 || error.result.getWriteConcernError() !== undefined;
  if (isOfCommand || !failures.every(isUnmet)) throw error;
  return new Map(failures.map((failure) => [failure.index, failure]));
}
