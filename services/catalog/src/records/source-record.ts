import { Brand } from '@brand-data/contracts';
import { type Identity, identityOf } from '@brand-data/identifiers';
import { type Statement, withListingsInOrder } from './merge.ts';

/** What one source says of a company, or the figures of a quote, with the import that said so last. */
export interface Contribution extends Statement {
  /** The source's own, or of a quote the main listing that it is of: "XNAS:AAPL". Unique within the source. */
  readonly id: string;
  readonly importId: string;
  /** The brand's message; equal for equal brands. */
  readonly bytes: Uint8Array;
  /** What tells whether another source's is of the same company. */
  readonly identity: Identity;
}

/** Names a contribution among all. */
export function referenceOf({ source, id }: { readonly source: string; readonly id: string }): string {
  return `${source}/${id}`;
}

/** A brand as its source has it, in the form in which it is kept. */
export function contributionOf(source: string, importId: string, brand: Brand): Contribution {
  const inOrder = withListingsInOrder(source, brand);
  const bytes = Brand.encode(inOrder).finish();
  return contribution({ source, id: brand.id, importId, isQuote: false, brand: inOrder, bytes });
}

/** Figures of the main listing "XNAS:AAPL" and where they come from; `brand` has that listing and nothing else. */
export function quoteOf(source: string, importId: string, listing: string, brand: Brand): Contribution {
  const bytes = Brand.encode(brand).finish();
  return contribution({ source, id: listing, importId, isQuote: true, brand, bytes });
}

export function contribution(fields: Omit<Contribution, 'identity'>): Contribution {
  return { ...fields, identity: identityOf(fields.brand) };
}
