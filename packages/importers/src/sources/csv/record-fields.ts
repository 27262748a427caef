import { hash } from 'node:crypto';
import { readWebHost } from '@brand-data/identifiers';
import { type BrandRecord, slugOf } from '@brand-data/records';

/** A company with more names or listings is refused anyway, and comparing all with each other would take for ever. */
const MOST_MERGED = 1_000;

/** The fields of a record that are known so far. */
export type PartialRecord = Partial<BrandRecord>;

/** Makes the id from the strongest identifier in the row, so that the id is the same at each import. */
export function derivedId({ lei, listings, stock, links, name = '' }: PartialRecord, source: string): string {
  const [listing] = listings ?? [];
  const isin = stock?.isin ?? listing?.isin;
  const website = readWebHost(links?.websites?.[0] ?? '')?.domain;
  if (lei !== undefined) return `lei-${lei.toLowerCase()}`;
  if (isin !== undefined) return `isin-${isin.toLowerCase()}`;
  if (listing?.share_class_figi !== undefined) return `figi-${listing.share_class_figi.toLowerCase()}`;
  if (listing !== undefined) return slugOf(`${listing.mic} ${listing.ticker}`);
  if (links?.wikidata_qid !== undefined) return links.wikidata_qid.toLowerCase();
  if (website !== undefined) return slugOf(`${source} ${website}`);
  return `${source}-${slugOf(name) || hash('sha256', name.normalize('NFKC').toLowerCase()).slice(0, 16)}`;
}

/** Adds the names and listings of a further row of the same company. The row's other fields are ignored. */
export function mergeInto(first: PartialRecord, { name, names = [], listings = [] }: PartialRecord): void {
  for (const other of [...(name === undefined ? [] : [name]), ...names])
    if ((first.names?.length ?? 0) < MOST_MERGED && other !== first.name && !first.names?.includes(other))
      first.names = [...(first.names ?? []), other];
  for (const listing of listings) {
    const known = first.listings ?? [];
    if (known.length >= MOST_MERGED) return;
    if (known.some(({ ticker, mic }) => ticker === listing.ticker && mic === listing.mic)) continue;
    first.listings = [...known, known.length === 0 ? listing : { ...listing, primary: true }];
  }
}
