import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  explainMiss,
  IDENTIFIER_KINDS,
  keysOfBrand,
  noCompanyMeant,
  readIdentifier,
  resolve,
} from '../src/index.ts';
import { anyText } from './arbitraries.ts';
import { brand, candidate } from './brands.ts';

const catalogue = [
  brand({
    id: 'gartner',
    name: 'Gartner',
    names: ['Gartner, Inc.'],
    listings: [{ ticker: 'IT', mic: 'XNYS', isin: 'US3666511072' }],
    websites: ['https://www.gartner.com/'],
  }),
  brand({ id: 'coke', name: 'Coca-Cola Consolidated', listings: ['COKE@XNAS'] }),
  brand({ id: 'coca-cola', name: 'Coca-Cola', names: ['Coke'], rank: 950, listings: ['KO@XNYS'] }),
  brand({ id: 'sol', name: 'Sol', rank: 400 }),
  brand({ id: 'ford', name: 'Ford Motor Company', rank: 850, listings: ['F@XNYS'] }),
];
const candidates = catalogue.map(candidate);
const meant = (identifier: string, kind?: (typeof IDENTIFIER_KINDS)[number]) =>
  resolve(identifier, candidates, { superinvestors: true, kind })?.id;

describe('an identifier of which the caller says the kind', () => {
  test('is read as this kind alone, in the same way as among all kinds', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom(...IDENTIFIER_KINDS), (text, kind) => {
        const all = readIdentifier(text, { superinvestors: true });
        const alone = readIdentifier(text, { superinvestors: true, kind });
        expect(alone).toEqual(all.filter((reading) => reading.kind === kind));
      }),
    );
  });

  test('means a company by this kind, or none', () => {
    const own = catalogue.flatMap((record) => keysOfBrand(record).map(({ value }) => value));
    const text = fc.oneof(fc.constantFrom(...own, 'it', 'Coke', 'Apple (AAPL)', 'ford'), anyText);
    fc.assert(
      fc.property(text, fc.constantFrom(...IDENTIFIER_KINDS), (identifier, kind) => {
        const found = resolve(identifier, candidates, { superinvestors: true, kind });
        expect(found?.kind ?? kind).toBe(kind);
      }),
    );
  });

  test.each([
    ['it', undefined, undefined],
    ['it', 'ticker', 'gartner'],
    ['IT', 'name', undefined],
    ['$IT', 'ticker', 'gartner'],
    ['$IT', 'name', undefined],
    ['Coke', undefined, 'coca-cola'],
    ['Coke', 'ticker', 'coke'],
    ['gartner.com', 'domain', 'gartner'],
    ['gartner.com', 'isin', undefined],
    ['US3666511072', 'isin', 'gartner'],
    ['US3666511072', 'name', undefined],
    ['Gartner (IT)', undefined, 'gartner'],
    ['Gartner (IT)', 'ticker', undefined],
    ['ford', 'name', 'ford'],
    ['ford', 'superinvestor', undefined],
  ] as const)('%s as %s is %s', (identifier, kind, id) => {
    expect(meant(identifier, kind)).toBe(id);
  });

  test('is a reserved code only as a ticker, and the name of a coin only as a name', () => {
    const reserved = (identifier: string, kind?: (typeof IDENTIFIER_KINDS)[number]) =>
      noCompanyMeant(identifier, undefined, undefined, { kind })?.kind;
    for (const kind of IDENTIFIER_KINDS) {
      expect(reserved('USD', kind)).toBe(kind === 'ticker' ? 'currency' : undefined);
      expect(reserved('Bitcoin', kind)).toBe(kind === 'name' ? 'coin' : undefined);
    }
  });

  test.each([
    ['zorbulax', 'ticker', 'It was tried as a ticker.'],
    ['zorbulax', 'isin', 'It cannot be read as `kind=isin`.'],
    ['Gartner (IT)', 'name', 'It was tried as a name.'],
    ['warren', 'superinvestor', 'It was tried as the name of a superinvestor.'],
  ] as const)('and that finds nothing is told how %s was read as %s', (identifier, kind, tried) => {
    expect(explainMiss(identifier, { superinvestors: true, kind })).toBe(
      `No company and no superinvestor is known by "${identifier}". ${tried} Without \`kind\`, every kind is tried.`,
    );
  });
});
