import { parseJson } from '../../formats/json.ts';
import { isBlankName, withPlainSpaces } from '../../formats/texts.ts';

/** What the SEC tells of a filer. Texts are '' where it tells nothing. */
export type Filer = NonNullable<ReturnType<typeof filerOf>>;
export type FormerName = Filer['formerNames'][number];

/** A company's facts stand before its filings, which may be many megabytes. */
const FILINGS = /,\s*"filings"\s*:/;
const MOST_FACTS = 1 << 20;
/** More than any filer has. */
const MOST_FORMER_NAMES = 100;
const LONGEST_TEXT = 1_000;
const NO_FILER =
  'this is neither a list of tickers with exchanges nor a file of submissions: it has no cik, name and former names';

/** Reads the facts of a filer, and no further. Returns its text too, or why it cannot be read. Rejects if the chunks do. */
export async function readFiler(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<{ filer: Filer; raw: string } | { problem: string; raw?: string }> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of chunks) {
    text += decoder.decode(bytes, { stream: true });
    const end = text.search(FILINGS);
    if (end >= 0) text = `${text.slice(0, end)}}`;
    if (end >= 0 || text.length > MOST_FACTS) break;
  }
  const raw = text.slice(0, MOST_FACTS);
  const parsed = raw === text ? parseJson(text) : { problem: NO_FILER };
  if ('problem' in parsed) return { ...parsed, raw };
  const filer = filerOf(parsed.value);
  return filer === undefined ? { problem: NO_FILER, raw } : { filer, raw };
}

/** Returns the facts of a filer. Undefined if it has no number, no name or no list of former names. */
export function filerOf(value: unknown) {
  const { cik, name, tickers, exchanges, addresses, formerNames, ...facts } = Object(value);
  const [, number] = /^0*([1-9]\d{0,9})$/.exec(textOf(cik)) ?? [];
  if (number === undefined || textOf(name) === '' || !Array.isArray(formerNames)) return undefined;
  const address = Object(Object(addresses).business);
  return {
    /** The number that the SEC gave the filer, without leading zeros. */
    cik: number,
    name: textOf(name),
    /** "operating", "investment" or "other", which people are too. */
    entityType: textOf(facts.entityType),
    lei: textOf(facts.lei),
    /** The number of the Standard Industrial Classification. */
    sic: textOf(facts.sic),
    sicDescription: textOf(facts.sicDescription),
    website: textOf(facts.website),
    /** Each with the exchange's name, '' if no exchange lists the security. */
    tickers: listOf(tickers).map((ticker, at) => ({
      ticker: textOf(ticker),
      exchange: textOf(listOf(exchanges)[at]),
    })),
    business: {
      city: textOf(address.city),
      /** EDGAR's code of an American state, a Canadian province or a country. */
      stateOrCountry: textOf(address.stateOrCountry) || textOf(address.countryCode),
    },
    /** Each with the years of the first and the last filing under it, '' if unknown. */
    formerNames: formerNames
      .slice(0, MOST_FORMER_NAMES)
      .map(Object)
      .map(({ name, from, to }) => ({ name: textOf(name), from: yearIn(from), to: yearIn(to) })),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a text with single spaces. '' if it is none. */
function textOf(value: unknown): string {
  const isText = typeof value === 'string' || typeof value === 'number';
  const text = isText ? withPlainSpaces(String(value).slice(0, LONGEST_TEXT)) : '';
  return isBlankName(text) ? '' : text;
}

function yearIn(value: unknown): string {
  return /^(\d{4})-\d{2}-\d{2}/.exec(textOf(value))?.[1] ?? '';
}
