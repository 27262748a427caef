import { Brand, BrandType, type Quote, Stock } from '@brand-data/contracts';
import { compareRanked, isWeak, keysOfBrand, type Ranked, readIdentifier } from '@brand-data/identifiers';
import { FIGURES } from '@brand-data/records';
import { mainListingOf } from './merge.ts';
import { quoteRecordOf, type SourceRecord } from './source-record.ts';

/** Returns the reason for skipping or refusing a quote. */
export function noMainListing(listing: string): string {
  return `no company here has ${listing} as its main listing`;
}

/** Returns the keys of the main listings that the quote may describe, in order of precedence. */
export function keysOfQuote({ symbol, mic, isin }: Quote): string[] {
  const identifier = symbol === '' ? isin : mic === '' ? symbol : `${mic}:${symbol}`;
  const kind = symbol === '' ? 'isin' : 'ticker';
  const readings = readIdentifier(identifier, { superinvestors: false }).filter(
    (reading) =>
      reading.kind === kind && !isWeak(reading.strength) && (mic === '' || reading.key.includes('@')),
  );
  return readings.toSorted((a, b) => a.step - b.step).map(({ key }) => key);
}

/** Returns the quote as a source record of the best known candidate whose main listing it describes, if there is one. */
export function quoteRecordAmong(
  source: string,
  importId: string,
  quote: Quote,
  candidates: readonly (Ranked & { readonly bytes: Uint8Array })[],
): SourceRecord | undefined {
  const inOrder = candidates.toSorted(compareRanked);
  const brands = inOrder.map(({ bytes }) => Brand.decode(bytes));
  for (const key of keysOfQuote(quote)) {
    const company = brands.find((brand) => isMainListingKey(key, brand) && hasIsin(brand, quote.isin));
    const [main] = company?.listings ?? [];
    const listing = company && mainListingOf(company);
    if (main === undefined || listing === undefined) continue;
    const stock = Stock.fromPartial(
      Object.fromEntries(FIGURES.map((figure) => [figure, quote.stock?.[figure]])),
    );
    const figures = Brand.fromPartial({
      type: BrandType.STOCK,
      listings: [{ ticker: main.ticker, mic: main.mic }],
      stock,
      sources: quote.source === undefined ? [] : [quote.source],
    });
    return quoteRecordOf(source, importId, listing, figures);
  }
  return undefined;
}

function isMainListingKey(key: string, { type, listings, stock }: Brand): boolean {
  const main = Brand.fromPartial({
    type,
    listings: listings.slice(0, 1),
    stock: { isin: stock?.isin ?? '' },
  });
  return keysOfBrand(main).some((own) => own.key === key);
}

function hasIsin({ listings, stock }: Brand, isin: string): boolean {
  return isin === '' || stock?.isin === isin || listings[0]?.isin === isin;
}
