import type { KeptMemory } from '../../framework/kept-memory.ts';
import { grouped, identifiersOf, isGerman, type Row } from './rows.ts';

/** The memory that the join needs for each row beside the row itself, in bytes. */
export const ROW_BYTES = 700;
/** The largest memory that the join keeps for two rows that share a key, in bytes: two links and a conflict. */
const PAIR_BYTES = 200;

/** What rows have in common that are compared with each other, pair by pair. */
const KEYS: readonly ((row: Row) => readonly string[])[] = [
  identifiersOf,
  ({ issuer, subject }) => [...new Set([...(issuer?.forms ?? []), ...(subject?.forms ?? [])])],
  ({ domain }) => (domain === '' ? [] : [domain]),
  (row) => (isGerman(row) ? [row.ticker] : []),
  ({ mic, name }) => (name === '' ? [] : [`${mic} ${name}`]),
];

/** Counts all pairs of rows that will be compared. Throws an OptionError if they are more than fit into the memory. */
export function keepComparisons(rows: readonly Row[], kept: KeptMemory): void {
  for (const keysOf of KEYS)
    for (const { length } of grouped(rows, keysOf).values())
      kept.addBytes(((length * (length - 1)) / 2) * PAIR_BYTES);
}
