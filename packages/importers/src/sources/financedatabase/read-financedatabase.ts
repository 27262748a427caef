import type { BytesRead, ReadBrand, Skipped } from '../../framework/source-items.ts';
import { brandOfCompany, idOf } from './company.ts';
import type { ConflictReason } from './conflicts.ts';
import { joinRows } from './join.ts';
import type { MergeReason } from './links.ts';
import { ownIdentifiersOf } from './own-identifiers.ts';
import { type Row, readRows } from './rows.ts';

/** One of the two listings of a conflict, as its file has it. */
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
  /** The identifiers in common: "figi:BBG001SL9402", "isin:US53814L1089"; none: only the name is. */
  identifiers: string[];
  joined: boolean;
  /** Why they were joined all the same, or were not. */
  reason: ConflictReason;
  listings: [ConflictingListing, ConflictingListing];
}

/** How the rows were joined, reported before the first record is given. */
interface JoinCounts {
  rows: number;
  companies: number;
  skipped: number;
  merges: Record<MergeReason, number>;
  conflicts: Record<ConflictReason, number>;
}

export interface FinanceDatabaseOptions {
  /** Every conflict, before the first record. Awaited: it may write to a file. */
  onConflict?: (conflict: ListingConflict) => void | Promise<void>;
  onJoined?: (counts: JoinCounts) => void;
  /** Grows while the files are read; the records follow afterwards. */
  progress?: BytesRead | undefined;
}

/**
 * The companies of FinanceDatabase's equities: a folder of its CSV files, one an exchange, or a copy of its repository.
 * A record is one issuer with all its listings; rows whose company is unknown are skipped. All rows are held in memory, some
 * 2 KB each: which of them are one company is only known at the end.
 */
export async function* readFinanceDatabase(
  dir: string,
  { onConflict, onJoined, progress }: FinanceDatabaseOptions = {},
): AsyncGenerator<ReadBrand | Skipped> {
  const rows: Row[] = [];
  for await (const read of readRows(dir, progress)) {
    if ('problem' in read) yield read;
    else rows.push(read);
  }
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
    yield { from: listings[0]?.from ?? dir, brand: { ...brand, id: idOf(brand) } };
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
