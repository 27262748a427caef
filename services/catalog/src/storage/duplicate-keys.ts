import { MongoBulkWriteError } from 'mongodb';

/** The code of mongod's error about a key that is unique and there already. */
export const DUPLICATE_KEY = 11_000;

/** Checks whether a bulk write has refused writes only because their keys were there already. */
export function saysDuplicatesOnly(error: unknown): boolean {
  return (
    error instanceof MongoBulkWriteError &&
    [error.writeErrors].flat().every(({ code }) => code === DUPLICATE_KEY)
  );
}
