import type { Brand, Quote } from '@brand-data/contracts';

/** What a source's reader could not make anything of. It is told, written to the rejects file, and the rest goes on. */
export interface Unreadable {
  /** Where it stands: "brands.ndjson:12". */
  from: string;
  /** Why, and what to do. */
  problem: string;
  /** The line as it came. */
  raw?: string | undefined;
}

/** What a source has that is no company: bonds, an exchange's tests. Nothing is wrong with it, and it is left out. */
export interface Skipped {
  from: string;
  /** Why. */
  skipped: string;
}

/** What was read of a source: a brand, or why it is none. */
export type ReadBrand = { from: string; brand: Brand; raw?: string | undefined } | Unreadable;

/** What was read of a source of market data. */
export type ReadQuote = { from: string; quote: Quote; raw?: string | undefined } | Unreadable;

/** How far a reader has come in its files, in bytes as they are stored; a total of 0 is not known. */
export interface BytesRead {
  read: number;
  total: number;
}
