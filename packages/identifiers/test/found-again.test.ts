import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type BrandKey,
  type Candidate,
  EXCHANGES,
  type Exchange,
  type IdentifierKind,
  isWeak,
  keysOfBrand,
  type Reading,
  type Resolution,
  readIdentifier,
  resolve,
  type Strength,
} from '../src/index.ts';
import { isCommonAsName } from '../src/names/common-words.ts';
import { isCashtag, isIndexCode } from '../src/read/readings.ts';
import { anyText, company, dash, manager, name, nameDecoration, someCase, ticker } from './arbitraries.ts';
import { brand, candidate } from './brands.ts';

const everywhere = { superinvestors: true };

/** The order of precedence. It leaves out the exceptions, because a text may be both a domain and a ticker. */
const KIND_PLACE: Readonly<Record<IdentifierKind, number>> = {
  isin: 0,
  cusip: 0,
  figi: 0,
  lei: 0,
  ticker: 1,
  domain: 1,
  name: 2,
  superinvestor: 3,
};
const STRENGTH_PLACE: Readonly<Record<Strength, number>> = {
  exact: 0,
  legal_form: 1,
  former: 2,
  group_word: 3,
  site_name: 4,
  spacing: 5,
  leading_words: 6,
};

function isAtLeastAsStrong(answer: Resolution | undefined, key: BrandKey): boolean {
  if (answer === undefined) return false;
  // Weak matches come last, after those of every kind.
  if (isWeak(key.strength) && !isWeak(answer.strength)) return true;
  const byKind = KIND_PLACE[answer.kind] - KIND_PLACE[key.kind];
  return byKind < 0 || (byKind === 0 && STRENGTH_PLACE[answer.strength] <= STRENGTH_PLACE[key.strength]);
}

/** Returns the ways in which a person may write the identifier of a key. */
function textOf(key: string): string {
  const text = key.slice(key.indexOf(':') + 1).replace(/@US(?:-MX)?$/, '');
  const [, written, mic] = /^(.+)@([^@]{4})$/.exec(text) ?? [];
  return key.startsWith('ticker:') && mic !== undefined ? `${mic}:${written}` : text;
}

const anyBrands = fc
  .array(fc.oneof(company, manager), { minLength: 1, maxLength: 3 })
  .map((brands) => brands.map((each, index) => ({ ...each, id: `brand-${index}` })));

/**
 * Returns the keys by which a look-up must find something. A weak key may belong to several companies, and then it finds none. A
 * common word is found only if it is the whole of a current name. Leading words find well-known companies alone.
 */
const findableKeys = (candidates: readonly Candidate[]): BrandKey[] =>
  candidates.flatMap(({ keys }) =>
    keys.filter(({ key, strength, value }) => {
      if (strength === 'leading_words') return false;
      if (strength !== 'exact' && [textOf(key), value].some(isCommonAsName)) return false;
      return !isWeak(strength) || candidates.every((other) => other.keys === keys || !hasKey(other, key));
    }),
  );
const hasKey = ({ keys }: Candidate, wanted: string): boolean => keys.some(({ key }) => key === wanted);

test('the normal form of a key of a brand finds a brand, at least as strongly', () => {
  fc.assert(
    fc.property(anyBrands, (brands) => {
      const candidates = brands.map(candidate);
      for (const key of findableKeys(candidates)) {
        const answer = resolve(textOf(key.key), candidates, everywhere);
        expect({ key, answer, holds: isAtLeastAsStrong(answer, key) }).toMatchObject({ holds: true });
      }
    }),
    { numRuns: 300 },
  );
});

test("the record's own value of a key finds a brand at least as strongly, however it is written", () => {
  fc.assert(
    fc.property(anyBrands, nameDecoration, someCase, dash, (brands, decorate, cased, hyphen) => {
      const candidates = brands.map(candidate);
      for (const key of findableKeys(candidates)) {
        const { kind, value } = key;
        const written =
          kind === 'name' || kind === 'superinvestor'
            ? decorate(value)
            : cased(kind === 'ticker' ? value.replace('-', hyphen) : value);
        // What follows "$" or "^" is no name, and a spelling may make a common word of a name.
        if (isCashtag(written) || isIndexCode(written) || isCommonAsName(written)) continue;
        const answer = resolve(written, candidates, everywhere);
        expect({ key, written, answer, holds: isAtLeastAsStrong(answer, key) }).toMatchObject({
          holds: true,
        });
      }
    }),
    { numRuns: 300 },
  );
});

const anyIdentifier = fc.oneof(
  anyText,
  name,
  ticker,
  fc.tuple(ticker, fc.constantFrom(...EXCHANGES)).map(([text, { mic }]) => `${mic}:${text}`),
  fc.tuple(ticker, fc.constantFrom('DE', 'T', 'HK', 'L', 'MX', 'TO', 'KS')).map((parts) => parts.join('.')),
  fc.tuple(ticker, fc.constantFrom('GR', 'US', 'JP', 'HK', 'MM', 'KS')).map((parts) => parts.join(' ')),
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.constantFrom('WWW.MÜNCHEN-RÜCK.DE.', 'a.b.github.io', 'us 037833 1005', 'BBG000B9XRY4', '037833100'),
);

test('normalization is idempotent for every kind: the normal form of a reading reads as itself', () => {
  fc.assert(
    fc.property(anyIdentifier, (identifier) => {
      for (const { key, kind } of readIdentifier(identifier, everywhere)) {
        const again = readIdentifier(textOf(key), everywhere);
        expect(again).toContainEqual(expect.objectContaining({ key, kind, strength: 'exact' }));
      }
    }),
    { numRuns: 1000 },
  );
});

test('any text of up to 256 characters has few readings, and reading it twice gives the same', () => {
  fc.assert(
    fc.property(anyIdentifier, (identifier) => {
      const readings: Reading[] = readIdentifier(identifier, everywhere);
      expect(readings.length).toBeLessThanOrEqual(40);
      expect(readIdentifier(identifier, everywhere)).toEqual(readings);
    }),
  );
});

/** Returns all forms of a ticker with its exchange by which this package promises to find a listing. */
function waysToWrite(listed: string, exchange: Exchange): string[] {
  return [
    ...[exchange.mic, ...(exchange.otherMics ?? [])].flatMap((mic) => [
      `${mic}:${listed}`,
      `${listed}:${mic}`,
      `${listed}.${mic}`,
    ]),
    ...[...exchange.yahoo, ...(exchange.reuters ?? [])].map((suffix) => `${listed}.${suffix}`),
    ...exchange.bloomberg.flatMap((code) => [
      `${listed} ${code}`,
      `${listed}:${code}`,
      `${listed} ${code} Equity`,
    ]),
    ...[exchange.code, ...(exchange.prefixes ?? [])].map((prefix) => `${prefix}: ${listed}`),
  ];
}

test('every listing on a venue of the table is found by its MIC, Yahoo, Bloomberg and prefix forms', () => {
  fc.assert(
    fc.property(fc.constantFrom(...EXCHANGES), ticker, someCase, (exchange, listed, cased) => {
      const meant = brand({
        id: 'meant',
        name: 'Meant',
        rank: 1,
        listings: [`X@ZZZZ`, `${listed}@${exchange.mic}`],
      });
      // A better known company in another country has the same ticker as its main listing.
      const elsewhere = EXCHANGES.find(({ country }) => country !== exchange.country && country !== 'CA');
      const other = brand({
        id: 'other',
        name: 'Other',
        rank: 900,
        listings: [`${listed}@${elsewhere?.mic}`],
      });
      const candidates = [meant, other].map(candidate);
      for (const written of waysToWrite(listed, exchange)) {
        expect({ written, id: resolve(cased(written), candidates, everywhere)?.id }).toEqual({
          written,
          id: 'meant',
        });
      }
    }),
    { numRuns: 1000 },
  );
});

test('a brand gives the same keys each time, each key once, and once more if its website and leading words give it', () => {
  fc.assert(
    fc.property(fc.oneof(company, manager), (record) => {
      const keys = keysOfBrand(record);
      expect(keysOfBrand(structuredClone(record))).toEqual(keys);
      const others = keys.filter(({ strength }) => strength !== 'leading_words');
      expect(new Set(others.map(({ key }) => key)).size).toBe(others.length);
      const siteNames = keys.filter(({ strength }) => strength === 'site_name').map(({ key }) => key);
      const once = keys.filter(
        ({ key, strength }) => strength !== 'leading_words' || !siteNames.includes(key),
      );
      expect(new Set(once.map(({ key }) => key)).size).toBe(once.length);
    }),
  );
});
