import { Brand, BrandType } from '@brand-data/contracts';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import type { CatalogDoc } from '../src/records/catalog-doc.ts';
import { referenceOf, type SourceRecord, sourceRecordOf } from '../src/records/source-record.ts';

/** The names of sources, one for each rank of precedence. */
export const SOURCES = [
  'hand-written',
  'sample',
  'feed',
  'wikidata',
  'financedatabase',
  'gleif',
  'simple-icons',
];

/**
 * Arbitrary brands of a few companies. Ids, names, identifiers, tickers and domains come from small sets, so that they agree and
 * conflict in all combinations. Each brand states some of the fields that the catalogue can derive, and omits the rest.
 */
export const someBrand: fc.Arbitrary<Brand> = fc
  .record({
    id: fc.constantFrom('acme', 'globex', 'q1', 'q2', 'q3', 'x1', 'x2', 'x3'),
    name: fc.constantFrom(
      'Acme',
      'Acme Inc.',
      'Acme Group',
      'Globex',
      'Globex AG',
      'Initech',
      'Initech Motors',
      'Initech Motors plc',
      'Acme Anvil Works',
      'Acme Anvil Works, Inc.',
      'Acme Corporation & plc',
    ),
    rank: fc.nat(3),
    description: fc.constantFrom('', 'Acme makes anvils.', 'Globex does not.'),
    category: fc.constantFrom('', 'tools'),
    isTypeStated: fc.boolean(),
    isOtherSecurity: fc.integer({ min: 0, max: 9 }).map((number) => number === 9),
    isTrading: fc.constantFrom(undefined, true, false),
    domains: fc.subarray(['acme.com', 'globex.com'], { maxLength: 1 }),
    qid: fc.constantFrom('', '', 'Q1', 'Q2'),
    lei: fc.constantFrom('', '', '529900T8BM49AURSDO55'),
    ticker: fc.constantFrom('', 'ACME', 'GLBX', 'ACMEF'),
    mic: fc.constantFrom('XNAS', 'XETR', 'XMEX', 'OTCM'),
    figi: fc.constantFrom('', 'BBG000MM90N1'),
    countryCode: fc.constantFrom('', 'US', 'DE'),
    city: fc.constantFrom('', 'New York', 'Berlin'),
    isin: fc.constantFrom('', 'US0378331005', 'GB0002634946', 'CH0038863350'),
  })
  .map(
    ({
      qid,
      ticker,
      mic,
      isin,
      figi,
      countryCode,
      city,
      id,
      isTypeStated,
      isOtherSecurity,
      isTrading,
      ...facts
    }) =>
      brandOf(id, {
        ...facts,
        type: typeOf({ isOtherSecurity, isTypeStated, ticker }),
        listings: ticker === '' ? [] : [{ ticker, mic, isin, figi, compositeFigi: figi }],
        ...(ticker !== '' && isTrading !== undefined && { stock: { isActivelyTrading: isTrading } }),
        links: { wikidataQid: qid },
        company: { headquarters: { countryCode, city } },
      }),
  );

/** Listings of a few companies, whose names, identifiers, places and websites agree and contradict in all combinations. */
export const someListings = fc
  .uniqueArray(someBrand, {
    maxLength: 9,
    selector: ({ listings: [main] }) => `${main?.mic}:${main?.ticker}`,
  })
  .map((brands) =>
    brands.flatMap((brand): Brand[] => {
      const [main] = brand.listings;
      return main === undefined
        ? []
        : [{ ...brand, id: `${main.mic}-${main.ticker}`.toLowerCase(), lei: '' }];
    }),
  );

function typeOf(stated: { isOtherSecurity: boolean; isTypeStated: boolean; ticker: string }): BrandType {
  if (stated.isOtherSecurity && stated.ticker !== '') return BrandType.OTHER_SECURITY;
  if (!stated.isTypeStated) return BrandType.UNSPECIFIED;
  return stated.ticker === '' ? BrandType.BRAND : BrandType.STOCK;
}

/** Returns a document's facts without what depends on its history: its id, its revision, its time and the ids of imports. */
export function factsOf({ _id, revision, changedAt, contributions, brand, ...doc }: CatalogDoc) {
  const record = { ...Brand.decode(brand), id: '' };
  return { ...doc, brand: record, contributions: contributions.map(referenceOf) };
}

export const someRecords: fc.Arbitrary<SourceRecord[]> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...SOURCES), someBrand), {
    maxLength: 14,
    selector: ([source, { id }]) => `${source}/${id}`,
  })
  .map((all) => all.map(([source, brand]) => sourceRecordOf(source, 'run', brand)));
