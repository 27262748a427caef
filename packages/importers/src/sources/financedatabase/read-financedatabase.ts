import type { Brand } from '@brand-data/contracts';
import { KeptMemory } from '../../framework/kept-memory.ts';
import type { BytesRead, ReadItem, Skipped } from '../../framework/source-items.ts';
import { brandOfCompany, idOf } from './company.ts';
import type { ConflictReason } from './conflicts.ts';
import { joinRows } from './join.ts';
import type { MergeReason } from './links.ts';
import { ownIdentifiersOf } from './own-identifiers.ts';
import { grouped, identifiersOf, isGerman, type Row, readRows } from './rows.ts';

/** The memory that the join needs for each row beside the row itself, in bytes. */
const ROW_BYTES = 700;
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

/** One of the two listings of a conflict, with the facts of its file. */
interface ConflictingListing {
  /** "LSE.csv:12". */
  from: string;
  symbol: string;
  name: string;
  country: string;
  website: string;
}

/** Two listings that contradict each other. */
export interface ListingConflict {
  /** The shared identifiers: "figi:BBG001SL9402", "isin:US53814L1089". Empty if only the name is shared. */
  identifiers: string[];
  joined: boolean;
  /** Why the importer joined the listings nevertheless, or kept them apart. */
  reason: ConflictReason;
  listings: [ConflictingListing, ConflictingListing];
}

/** How many rows were joined, and why. */
interface JoinCounts {
  rows: number;
  companies: number;
  skipped: number;
  merges: Record<MergeReason, number>;
  conflicts: Record<ConflictReason, number>;
}

export interface FinanceDatabaseOptions {
  /** Called for every conflict before the first record. Awaited, because it may write to a file. */
  onConflict?: (conflict: ListingConflict) => void | Promise<void>;
  /** Called once, before the first record. */
  onJoined?: (counts: JoinCounts) => void;
  /** How much may be kept in memory, in MiB. */
  memoryMib?: number | undefined;
  /** Grows while the files are read. All records are yielded after that. */
  progress?: BytesRead | undefined;
}

/**
 * Yields the companies of FinanceDatabase's equities. Each record is one issuer with all its listings. Rows whose company is
 * unknown are skipped. All rows are kept in memory, about 3 KB each, because only the last row shows which rows are one company.
 * Throws an OptionError if they do not fit into the memory.
 *
 * @param dir a folder of its CSV files, one for each exchange, or a copy of its repository
 */
export async function* readFinanceDatabase(
  dir: string,
  { onConflict, onJoined, memoryMib, progress }: FinanceDatabaseOptions = {},
): AsyncGenerator<ReadItem<Brand> | Skipped> {
  const rows: Row[] = [];
  const kept = new KeptMemory(dir, memoryMib);
  for await (const read of readRows(dir, progress)) {
    if (!('symbol' in read)) {
      yield read;
      continue;
    }
    kept.add(read);
    kept.addBytes(ROW_BYTES);
    rows.push(read);
  }
  keepComparisons(rows, kept);
  const { companies, merges, conflicts, refused } = joinRows(rows);
  onJoined?.({
    rows: rows.length,
    companies: companies.length,
    skipped: refused.length,
    merges: countsOf(merges.map(({ reason }) => reason)),
    conflicts: countsOf(conflicts.map(({ reason }) => reason)),
  });
  const bySymbol = new Map(rows.map((row) => [row.symbol, row]));
  for (const { a, b, identifiers, reason } of conflicts) {
    const listings: [ConflictingListing, ConflictingListing] = [
      listingOf(bySymbol.get(a.symbol) ?? a),
      listingOf(bySymbol.get(b.symbol) ?? b),
    ];
    await onConflict?.({ identifiers, joined: reason.startsWith('joined'), reason, listings });
  }
  for (const { row, reason } of refused) yield { from: row.from, skipped: reason };

  const ownIdentifiers = ownIdentifiersOf(companies);
  for (const listings of companies) {
    const brand = brandOfCompany(listings, ownIdentifiers);
    yield { from: listings[0]?.from ?? dir, item: { ...brand, id: idOf(brand) } };
  }
}

function listingOf({ from, symbol, name, country, website }: Row): ConflictingListing {
  return { from, symbol, name, country, website };
}

function countsOf<Reason extends string>(reasons: readonly Reason[]): Record<Reason, number> {
  return Object.fromEntries(
    [...Map.groupBy(reasons, (reason) => reason)].map(([reason, all]) => [reason, all.length]),
  ) as Record<Reason, number>;
}

/** Counts all pairs of rows that will be compared. Throws an OptionError if they are more than fit into the memory. */
function keepComparisons(rows: readonly Row[], kept: KeptMemory): void {
  for (const keysOf of KEYS)
    for (const { length } of grouped(rows, keysOf).values())
      kept.addBytes(((length * (length - 1)) / 2) * PAIR_BYTES);
}
