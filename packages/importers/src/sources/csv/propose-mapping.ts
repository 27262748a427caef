import { basename } from 'node:path';
import { exchangesOfPrefix } from '@brand-data/identifiers';
import { openTable } from '../../formats/table.ts';

/**
 * Names of columns that are well known, ignoring case, spaces and punctuation, with the field that each gives. If several columns
 * of a table give a field, the one that is listed first is proposed.
 */
const KNOWN: readonly (readonly [field: string, columns: string])[] = [
  [
    'listings.ticker',
    'symbol, ticker, ticker symbol, trading symbol, mnemonic, epic, security code, asx code, local code, stock code, code',
  ],
  [
    'name',
    'name, company name, name of company, company, security name, security, instrument, issuer, issuer name, long name, name of securities, short name',
  ],
  ['listings.mic', 'mic, exchange, exchange code, venue, market'],
  ['listings.security', 'security type, asset type, instrument type, asset class'],
  ['listings.isin', 'isin, isin code, isin number'],
  ['listings.cusip', 'cusip'],
  ['listings.share_class_figi', 'share class figi'],
  ['lei', 'lei'],
  ['company.headquarters', 'headquarters location, headquarters, address, location'],
  ['company.headquarters.country', 'country, country name'],
  ['company.headquarters.state', 'state, region'],
  ['company.headquarters.city', 'city'],
  ['company.sector', 'sector, gics sector, gics industry group'],
  ['company.industry', 'industry, gics sub-industry, sub-industry, industry group'],
  ['company.founded', 'founded'],
  ['company.ceo', 'ceo'],
  ['company.employees', 'employees, full time employees'],
  ['description', 'description, summary, about'],
  ['links.websites', 'website, web site, homepage, url, domain'],
  ['links.wikidata_qid', 'qid, wikidata, wikidata qid'],
  ['images.logo', 'logo, logo file, logo light'],
  ['images.logo_dark', 'logo dark, dark logo'],
  ['images.stock_logo', 'stock logo'],
  ['images.banner', 'banner'],
  ['stock.currency', 'currency'],
  ['stock.price', 'last sale, price, close, close price, last, last price'],
  ['stock.change', 'net change, change'],
  ['stock.change_percentage', 'pct change, % change, change percentage, change percent'],
  ['stock.market_cap_usd', 'market cap usd, market cap, market value, market capitalization'],
];

/** What the heading of a table suggests for its import. */
export interface ProposedMapping {
  columns: readonly string[];
  map: readonly { column: string; field: string }[];
  /** The MIC of the venue that the file is named after: "nasdaq-2026-08-21.csv". Undefined if a column gives the venue. */
  mic: string | undefined;
  /** The date in the file's name. */
  date: string | undefined;
}

/** Reads the heading of a table and proposes a mapping by the names of its columns. Rejects with NoTable if it has no heading. */
export async function proposeMapping(file: string): Promise<ProposedMapping> {
  await using table = await openTable(file);
  const { columns } = table;
  const byName = new Map(columns.toReversed().map((column) => [lettersOf(column), column]));
  const map = KNOWN.flatMap(([field, names]) => {
    const column = names
      .split(',')
      .map((name) => byName.get(lettersOf(name)))
      .find((found) => found !== undefined);
    return column === undefined ? [] : [{ column, field }];
  });
  const words = basename(file).split(/[^A-Za-z]+/);
  const [venue] = words.flatMap((word) => (word.length < 3 ? [] : exchangesOfPrefix(word.toUpperCase())));
  const hasVenue = map.some(({ field }) => field === 'listings.mic');
  return {
    columns,
    map,
    mic: hasVenue ? undefined : venue?.mic,
    date: /\d{4}-\d{2}-\d{2}/.exec(basename(file))?.[0],
  };
}

function lettersOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('%', 'pct')
    .replace(/[^a-z]/g, '');
}
