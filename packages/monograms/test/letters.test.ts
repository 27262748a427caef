import { lettersOf } from '@brand-data/monograms';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const COMPANIES: readonly (readonly [name: string, letters: string])[] = [
  ['Google', 'G'],
  ['iRobot', 'I'],
  ['Bank of America', 'BA'],
  ['The Walt Disney', 'WD'],
  ['The The', 'T'],
  ['Johnson & Johnson', 'JJ'],
  ['De Beers', 'DB'],
  ['Banco do Brasil', 'BB'],
  ['Coca-Cola', 'CC'],
  ["McDonald's", 'M'],
  ['L’Oréal', 'L'],
  ['AT&T', 'AT'],
  ['S&P Global', 'SP'],
  ['U.S. Bancorp', 'UB'],
  ['J.Crew', 'JC'],
  ['Booking.com', 'B'],
  ['Yahoo!', 'Y'],
  ['E*TRADE', 'ET'],
  ['Meta (formerly Facebook)', 'M'],
  ['(RED)', 'R'],
  ['HP', 'HP'],
  ['LG Electronics', 'LG'],
  ['DE BEERS', 'DB'],
  ['Pan Am', 'PA'],
  ['A1 Telekom', 'A1'],
  ['3M', '3M'],
  ['3i', '3I'],
  ['7-Eleven', '7E'],
  ['1&1', '11'],
  ['23andMe', '23'],
  ['360 Security', '3S'],
  ['Österreichische Post', 'ÖP'],
  ['Ｓｏｎｙ', 'S'],
  ['ßpark', 'S'],
  ['ﬁrst', 'F'],
  ['ıstanbul', 'I'],
  ['ʻOhana', 'O'],
  ['Газпром Нефть', 'ГН'],
  ['Εθνική Τράπεζα', 'ΕΤ'],
  ['Դավիթ Բեկ', 'ԴԲ'],
  ['საქართველოს ბანკი', 'სბ'],
  ['בנק הפועלים', 'בה'],
  ['トヨタ自動車', 'ト'],
  ['三菱UFJ', '三'],
  ['현대자동차', '현'],
  ['الراجحي', 'ر'],
  ['ﷺ', 'ص'],
  ['ธนาคารกรุงเทพ', 'ธ'],
  ['เซ็นทรัล', 'ซ'],
  ['टाटा मोटर्स', 'ट'],
  ['श्री', 'श'],
  ['SK 텔레콤', 'S'],
  ['🍎 Apple', 'A'],
];

const PERSONS: readonly (readonly [name: string, letters: string])[] = [
  ['Warren Buffett', 'WB'],
  ['Charles T. Munger', 'CM'],
  ['Jean-Marie Eveillard', 'JE'],
  ['Jean Dupont-Moretti', 'JD'],
  ['Robert Downey, Jr.', 'RD'],
  ['Dr. Ada de la Cruz', 'AC'],
  ['Li Lu', 'LL'],
  ['Madonna', 'M'],
  ['Sir', 'S'],
  ['段永平', '段'],
];

/** Texts of many scripts, also without any letter. */
const name = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom(...COMPANIES.flatMap(([company]) => company.split(' '))), { maxLength: 4 })
    .map((words) => words.join(' ')),
);

describe('the letters of a monogram', () => {
  test.each(COMPANIES)('of the company %s are %s', (company, letters) => {
    expect(lettersOf(company)).toBe(letters);
  });

  test.each(PERSONS)('of the person %s are %s', (person, letters) => {
    expect(lettersOf(person, { isPerson: true })).toBe(letters);
  });

  test.each(['', ' ', '!', '🍎', '👩‍👩‍👧', '—', '\u0301', '\ud800', 'ー'])('of "%s" are none', (text) => {
    expect(lettersOf(text)).toBe('');
  });

  test('are at most two letters or numbers, without marks', () =>
    fc.assert(
      fc.property(name, fc.boolean(), (text, isPerson) => {
        expect(lettersOf(text, { isPerson })).toMatch(/^[\p{L}\p{N}]{0,2}$/u);
      }),
    ));

  test('exist for every text with an upper-case letter', () =>
    fc.assert(
      fc.property(name, name, (before, after) => {
        expect(lettersOf(`${before}B${after}`)).not.toBe('');
      }),
    ));

  test('of letters are the same letters', () =>
    fc.assert(
      fc.property(name, fc.boolean(), (text, isPerson) => {
        const letters = lettersOf(text, { isPerson });
        expect(lettersOf(letters)).toBe(letters);
      }),
    ));

  test('of every single character of Unicode are none, or themselves again', () => {
    const unstable: string[] = [];
    for (let code = 0; code <= 0x10_ffff; code += 1) {
      const letters = lettersOf(String.fromCodePoint(code));
      if (letters !== '' && lettersOf(letters) !== letters) unstable.push(code.toString(16));
    }
    expect(unstable).toEqual([]);
  });

  test('do not depend on the case of a word, on accents that Unicode writes in two ways, or on spaces around the name', () =>
    fc.assert(
      fc.property(
        fc.constantFrom('Google', 'Österreichische Post', 'Газпром Нефть', 'Bank of America'),
        (text) => {
          const letters = lettersOf(text);
          for (const variant of [text.toLowerCase(), text.toUpperCase(), text.normalize('NFD'), ` ${text}\n`])
            expect(lettersOf(variant)).toBe(letters);
        },
      ),
    ));
});
