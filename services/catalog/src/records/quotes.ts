import { Brand, BrandType, type Quote, Stock } from '@brand-data/contracts';
import { keysOfBrand, readIdentifier } from '@brand-data/identifiers';
import type { Candidate } from '../lookup/candidates.ts';
import { mainListingOf } from './merge.ts';
import { type Contribution, quoteOf } from './source-record.ts';

/** What a quote may say of a stock. */
export const FIGURES = [
  'currency',
  'price',
  'priceUsd',
  'change',
  'changePercentage',
  'marketCapUsd',
  'range',
  'percentFrom52WeekLow',
  'isActivelyTrading',
] as const satisfies readonly (keyof Stock)[];

/** Why a quote is left out. */
export function noMainListing(of: string): string {
  return `no company here has ${of} as its main listing`;
}

/** The keys of main listings that the quote may be of, in order of precedence. */
export function keysOfQuote({ symbol, mic, isin }: Quote): string[] {
  const identifier = symbol === '' ? isin : mic === '' ? symbol : `${mic}:${symbol}`;
  const kind = symbol === '' ? 'isin' : 'ticker';
  const readings = readIdentifier(identifier, { superinvestors: false }).filter(
    (reading) => reading.kind === kind && (mic === '' || reading.key.includes('@')),
  );
  return readings.toSorted((a, b) => a.step - b.step).map(({ key }) => key);
}

/**
 * The quote as a contribution to the company whose main listing it is of: the best known, where several are. Undefined:
 * none of the candidates is.
 */
export function contributionOfQuote(
  source: string,
  importId: string,
  quote: Quote,
  candidates: readonly Candidate[],
): Contribution | undefined {
  const inOrder = candidates.toSorted((a, b) => b.rank - a.rank || (a.id < b.id ? -1 : 1));
  const brands = inOrder.map(({ bytes }) => Brand.decode(bytes));
  for (const key of keysOfQuote(quote)) {
    const company = brands.find((brand) => isOfMainListing(key, brand) && hasIsin(brand, quote.isin));
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
    return quoteOf(source, importId, listing, figures);
  }
  return undefined;
}

function isOfMainListing(key: string, { type, listings, stock }: Brand): boolean {
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
