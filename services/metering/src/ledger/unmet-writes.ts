import { MongoBulkWriteError, type WriteError } from 'mongodb';

/**
 * Returns the places of the writes of a bulk that failed because their condition did not hold. All other writes are durable.
 * Throws the error if anything else failed.
 */
export function unmetWrites(error: unknown, isUnmet: (failure: WriteError) => boolean): Set<number> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const failures = [error.writeErrors].flat();
  // Without the failure of a write, the error is one of the whole command. An election may then take the writes back.
  const isOfCommand = failures.length === 0 || error.result.getWriteConcernError() !== undefined;
  if (isOfCommand || !failures.every(isUnmet)) throw error;
  return new Set(failures.map(({ index }) => index));
}
