import { MongoBulkWriteError, MongoServerError } from 'mongodb';

/** The code of mongod's error about a unique key that another document has already. */
export const DUPLICATE_KEY = 11_000;

/** Checks whether the error is about a unique key that another document has already, or the error of a bulk write that names such a key. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/**
 * Checks whether a bulk write's error names nothing but keys that were there already. An error whose outcome is unknown names nothing,
 * such as a lost connection, so the caller must write again or plan again.
 */
export function namesOnlyDuplicates(error: unknown): boolean {
  return (
    error instanceof MongoBulkWriteError &&
    [error.writeErrors].flat().every(({ code }) => code === DUPLICATE_KEY)
  );
}
