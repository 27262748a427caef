import type { Brand, Quote } from '@brand-data/contracts';

/** Something in a source that its reader cannot read. It is refused, and the import goes on. */
export interface Unreadable {
  /** Its place: "brands.ndjson:12". */
  from: string;
  /** Why it cannot be read, and what to do. */
  problem: string;
  /** The line as it was read. */
  raw?: string | undefined;
}

/** Something in a source that is correct and no company's, such as a bond or an exchange's test line. */
export interface Skipped {
  from: string;
  /** Why it is left out. */
  skipped: string;
}

/** Something that the import does not send, or that the catalogue refuses. */
export interface Refusal {
  from: string;
  reason: string;
  /** The line as it was read, or else the record. */
  raw?: string | undefined;
}

/** An item to be sent, with its place and its line. */
export interface SourceItem<T> {
  from: string;
  item: T;
  raw?: string | undefined;
}

/** What a reader of companies gives. */
export type ReadBrand = { from: string; brand: Brand; raw?: string | undefined } | Unreadable;

/** What a reader of market data gives. */
export type ReadQuote = { from: string; quote: Quote; raw?: string | undefined } | Unreadable;

/** How many bytes of its files, as they are stored, a reader has read; a total of 0 means that it is unknown. */
export interface BytesRead {
  read: number;
  total: number;
}
