import { Brand } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cusipOfIsin, isCusip, isFigi, isIsin, isLei, keysOfBrand, readIdentifier } from '../src/index.ts';
import { brand } from './brands.ts';

const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** Identifiers as their issuers published them. */
const GENUINE: [string, (value: string) => boolean, string[]][] = [
  [
    'ISIN',
    isIsin,
    ['US0378331005', 'JP3633400001', 'GB0002634946', 'DE0007164600', 'CH0038863350', 'KYG875721634'],
  ],
  ['CUSIP', isCusip, ['037833100', '084670702', '02079K107', 'G0177J108', '594918104']],
  ['FIGI', isFigi, ['BBG000B9XRY4', 'BBG001S5N8V8', 'BBG000BLNNH6', 'BBG000GJZW56', 'BBG001S6FR34']],
  ['LEI', isLei, ['HWUPKR0MPOU8FGXBT394', 'INR2EJN1ERAN0W5ZP974', '5493006MHB84DD0ZWV18']],
];

describe.each(GENUINE)('a %s', (_, holds, values) => {
  test('with a valid check digit is valid, and is of no other kind', () => {
    for (const value of values) {
      expect(holds(value), value).toBe(true);
      const ofKinds = [isIsin, isCusip, isFigi, isLei].filter((check) => check(value));
      expect(ofKinds, value).toEqual([holds]);
    }
  });

  test('with one wrong character is invalid, except where the standard cannot detect it', () => {
    const mistake = fc.tuple(fc.constantFrom(...values), fc.nat(), fc.constantFrom(...CHARACTERS));
    fc.assert(
      fc.property(mistake, ([value, at, character]) => {
        const place = at % value.length;
        const mistaken = value.slice(0, place) + character + value.slice(place + 1);
        fc.pre(mistaken !== value);
        // The values of two letters may have the same sum of digits, so that the check digit does not change.
        const isFigure = /\d/.test(character) && /\d/.test(value[place] ?? '');
        if (isFigure) expect(holds(mistaken)).toBe(false);
      }),
    );
  });

  test('is invalid in lower case, with a blank, or if it is longer or shorter', () => {
    for (const value of values) {
      for (const other of [` ${value}`, `${value} `, `${value}0`, value.slice(1), '']) {
        expect(holds(other)).toBe(false);
      }
    }
    expect(values.filter((value) => /[A-Z]/.test(value) && holds(value.toLowerCase()))).toEqual([]);
  });
});

const text = (length: number, characters: string) =>
  fc.string({ unit: fc.constantFrom(...characters), minLength: length, maxLength: length });
const numbersOf = (value: string, signs = '') =>
  [...value].map((character) => (CHARACTERS + signs).indexOf(character));
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const doubled = (numbers: readonly number[], isDoubled: (place: number) => boolean) =>
  numbers.map((number, place) => (isDoubled(place) ? 2 * number : number));
const checkDigit = (counted: readonly number[]) =>
  (10 - (sum(counted.flatMap((number) => [...String(number)].map(Number))) % 10)) % 10;

test('of the ten possible last digits of an ISIN, a CUSIP or a FIGI, only the one that its standard computes is valid', () => {
  const rightDigits = (body: string, holds: (value: string) => boolean) =>
    [...'0123456789'].filter((digit) => holds(body + digit)).map(Number);
  const isin = fc.tuple(text(2, CHARACTERS.slice(10)), text(9, CHARACTERS)).map((parts) => parts.join(''));
  const figi = text(8, CHARACTERS.replace(/[AEIOU]/g, '')).map((rest) => `BBG${rest}`);
  fc.assert(
    fc.property(isin, text(8, `${CHARACTERS}*@#`), figi, (isinBody, cusipBody, figiBody) => {
      const digits = [...numbersOf(isinBody).join('')].map(Number);
      const fromRight = doubled(digits.toReversed(), (place) => place % 2 === 0);
      expect(rightDigits(isinBody, isIsin)).toEqual([checkDigit(fromRight)]);
      const fromLeft = (body: string) => doubled(numbersOf(body, '*@#'), (place) => place % 2 === 1);
      expect(rightDigits(cusipBody, isCusip)).toEqual([checkDigit(fromLeft(cusipBody))]);
      expect(rightDigits(figiBody, isFigi)).toEqual([checkDigit(fromLeft(figiBody))]);
    }),
  );
});

test('an LEI is valid if its number modulo 97 is 1', () => {
  fc.assert(
    fc.property(text(18, CHARACTERS), (body) => {
      const rest = BigInt(`${numbersOf(body).join('')}00`) % 97n;
      const right = String(98n - rest).padStart(2, '0');
      expect(isLei(body + right)).toBe(true);
      expect(isLei(body + (right === '50' ? '51' : '50'))).toBe(false);
    }),
  );
});

test('the ISIN of an American or Canadian security contains its CUSIP, others contain none', () => {
  expect(cusipOfIsin('US0378331005')).toBe('037833100');
  expect(cusipOfIsin('CA82509L1076')).toBe('82509L107');
  expect(cusipOfIsin('DE0007164600')).toBeUndefined();
  expect(cusipOfIsin('US03783310')).toBeUndefined();
});

test('a company is not found by the CUSIP in an ISIN with a wrong check digit', () => {
  const company = Brand.fromPartial({ listings: [{ ticker: 'AAPL', mic: 'XNAS', isin: 'US0378331006' }] });
  expect(keysOfBrand(company).map(({ key }) => key)).not.toContain('cusip:037833100');
});

test('a company is found by each identifier of each of its listings, of its stock, and by its LEI', () => {
  const company = brand({
    id: 'company',
    name: 'Company',
    listings: [
      {
        ticker: 'A',
        mic: 'XNAS',
        isin: 'US0378331005',
        figi: 'BBG000B9XRY4',
        shareClassFigi: 'BBG001S5N8V8',
      },
      { ticker: 'B', mic: 'XTKS', isin: 'jp3633400001', compositeFigi: 'BBG000BLNNH6' },
    ],
    isin: 'DE0007164600',
    cusip: '084670702',
    lei: 'HWUPKR0MPOU8FGXBT394',
  });
  expect(keysOfBrand(company).map(({ key }) => key)).toEqual(
    expect.arrayContaining([
      'isin:US0378331005',
      'isin:JP3633400001',
      'isin:DE0007164600',
      'cusip:037833100',
      'cusip:084670702',
      'figi:BBG000B9XRY4',
      'figi:BBG001S5N8V8',
      'figi:BBG000BLNNH6',
      'lei:HWUPKR0MPOU8FGXBT394',
    ]),
  );
});

test('an identifier with a wrong check digit is neither a key nor read as an identifier', () => {
  const company = brand({
    id: 'c',
    name: 'C',
    listings: [{ ticker: 'A', mic: 'XNAS', isin: 'US0378331006' }],
  });
  expect(keysOfBrand(company).map(({ kind }) => kind)).not.toContain('isin');
  expect(readIdentifier('US0378331006', { superinvestors: true }).map(({ kind }) => kind)).toEqual([
    'ticker',
    'name',
    'superinvestor',
  ]);
});

test.each([
  ['US0378331005', 'isin:US0378331005'],
  ['us0378331005', 'isin:US0378331005'],
  ['US 037833100 5', 'isin:US0378331005'],
  ['US-037833100-5', 'isin:US0378331005'],
  ['ISIN: US0378331005', 'isin:US0378331005'],
  ['isin us0378331005', 'isin:US0378331005'],
  ['037833100', 'cusip:037833100'],
  ['037833 10 0', 'cusip:037833100'],
  ['CUSIP:037833100', 'cusip:037833100'],
  ['bbg000b9xry4', 'figi:BBG000B9XRY4'],
  ['FIGI BBG000B9XRY4', 'figi:BBG000B9XRY4'],
  ['HWUPKR0MPOU8FGXBT394', 'lei:HWUPKR0MPOU8FGXBT394'],
  ['HWUP KR0M POU8 FGXB T394', 'lei:HWUPKR0MPOU8FGXBT394'],
])('%j is read as %s before anything else', (identifier, key) => {
  expect(readIdentifier(identifier, { superinvestors: true })[0]).toMatchObject({
    key,
    strength: 'exact',
    step: 0,
  });
});
