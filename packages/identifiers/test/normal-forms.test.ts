import { BrandType } from '@brand-data/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coreName, keysOfBrand, normalName, readIdentifier, readWebHost } from '../src/index.ts';
import { brand } from './brands.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 256 });
const word = fc.oneof(
  fc.constantFrom(
    'Apple',
    'Nestlé',
    'Häagen',
    'Møller',
    'Straße',
    'Ærø',
    'McDonald’s',
    'İş',
    'Łódź',
    'Ελληνικός',
    'Ёлка',
    'トヨタ',
    'ドコモ',
    'グループ',
    'カﾞス',
    '삼성전자',
    'ไทย',
    'भारत',
    '3M',
    'A',
    'b',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
);
const name = fc
  .tuple(
    fc.constantFrom('', 'The ', '株式会社'),
    fc.array(word, { minLength: 1, maxLength: 4 }),
    fc.constantFrom(
      '',
      ' Inc.',
      ', S.p.A.',
      ' & Co. KGaA',
      ' A/S',
      ' Co., Ltd.',
      ' Inc. Class B',
      '株式会社',
    ),
  )
  .map(([before, words, after]) => `${before}${words.join(' ')}${after}`);

const someCase = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.toUpperCase(),
  (text: string) => text.toLowerCase(),
);
const dash = fc.constantFrom('-', '–', '—', '‑', '−', '－');
const apostrophe = fc.constantFrom("'", '’', '‘', 'ʼ', '`', '´', '＇');
const accent = fc.constantFrom('', '\u0301', '\u0308', '\u0327');
const spaces = fc.constantFrom('', ' ', '  ');

/** Ways to write a name that a person holds to be the same. */
const nameDecoration = fc
  .tuple(someCase, dash, apostrophe, accent, spaces, fc.constantFrom('NFC', 'NFD'))
  .map(([cased, hyphen, quote, mark, blank, form]) => (text: string) => {
    const marked = cased(text).replace(/[a-z]/gi, (letter) => letter + mark);
    return (blank + marked + blank)
      .replace(/ /g, (space) => (blank === '' ? hyphen : space))
      .replace(/['’]/g, quote)
      .replace(/[a-z](?=[a-z])/i, (letter) => letter + quote)
      .normalize(form);
  });

test('normalising a name twice is normalising it once', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, name), (text) => {
      const normal = normalName(text);
      expect(normalName(normal)).toBe(normal);
    }),
    { numRuns: 1000 },
  );
});

test('leaving legal forms off twice is leaving them off once, and something always remains', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, name), (text) => {
      const normal = normalName(text);
      const core = coreName(normal);
      expect(coreName(core)).toBe(core);
      expect(core === '').toBe(normal === '');
    }),
  );
});

test('Japanese voiced marks are kept, however they are encoded', () => {
  expect(normalName('ドコモ')).not.toBe(normalName('トコモ'));
  expect(normalName('パナソニック')).not.toBe(normalName('ハナソニック'));
  expect(normalName('ﾄﾞｺﾓ')).toBe(normalName('ドコモ'));
  expect(normalName('ドコモ'.normalize('NFD'))).toBe('ドコモ');
});

test('Holdings and Group are part of a name', () => {
  expect(coreName('acme holdings plc')).toBe('acme holdings');
  expect(coreName('acme group')).toBe('acme group');
});

test.each([
  ['Bosch GmbH', 'bosch'],
  ['Volvo AB (publ)', 'volvo'],
  ['Merck KGaA', 'merck'],
  ['Merck & Co., Inc.', 'merck'],
  ['Heineken N.V.', 'heineken'],
  ['Eni S.p.A.', 'eni'],
  ['Nokia Oyj', 'nokia'],
  ['Equinor ASA', 'equinor'],
  ['Carlsberg A/S', 'carlsberg'],
  ['Chanel S.à r.l.', 'chanel'],
  ['BHP Pty Ltd', 'bhp'],
  ['Petronas Sdn. Bhd.', 'petronas'],
  ['BP p.l.c.', 'bp'],
  ['PT Telkom Indonesia Tbk', 'telkom indonesia'],
  ['América Móvil, S.A.B. de C.V.', 'america movil'],
  ['CD Projekt S.A.', 'cd projekt'],
  ['Allegro Sp. z o.o.', 'allegro'],
  ['株式会社ソニー', 'ソニー'],
  ['ソニー㈱', 'ソニー'],
  ['삼성전자 주식회사', '삼성전자'],
  ['华为技术有限公司', '华为技术'],
  ['ПАО Газпром', 'газпром'],
  ['The Gap, Inc.', 'gap'],
])('the legal form of %j is left off', (value, core) => {
  expect(coreName(normalName(value))).toBe(core);
});

const tickers = fc.constantFrom('AAPL', 'BRK-B', 'BT-A', '7203', '0700', '000001', 'M&M', 'RDS A');
const venues = fc.constantFrom('XNAS', 'XNGS', 'XETR', 'XLON', 'XHKG', 'XTKS', 'XNSE', 'XNAI');
const sites = fc.constantFrom(
  'https://www.apple.com/',
  'https://corporate.mcdonalds.com/x',
  'https://site.github.io',
  'https://www.münchen-rück.de',
  'https://www.gov.uk/',
  'https://例え.jp/',
);
const company = fc
  .record({
    id: fc.constant('company'),
    name,
    names: fc.array(fc.oneof(name, anyText), { maxLength: 3 }),
    formerly: fc.array(name, { maxLength: 2 }),
    listings: fc.array(
      fc.tuple(tickers, venues, fc.constantFrom('', '+')).map(([t, m, p]) => `${t}@${m}${p}`),
      { maxLength: 4 },
    ),
    websites: fc.array(sites, { maxLength: 2 }),
    domains: fc.array(fc.constantFrom('mcd.com', 'github.io', 'münchen.de'), { maxLength: 2 }),
  })
  .map(brand);
const manager = fc
  .record({
    id: fc.constant('manager'),
    type: fc.constant(BrandType.SUPERINVESTOR),
    name,
    manager: name,
    firm: name,
  })
  .map(brand);

test('every key of a brand is among the readings of its own value, however that is written', () => {
  fc.assert(
    fc.property(
      fc.oneof(company, manager),
      nameDecoration,
      someCase,
      dash,
      (record, decorate, cased, hyphen) => {
        for (const { key, kind, value } of keysOfBrand(record)) {
          const written = {
            ticker: cased(value).replace('-', hyphen),
            domain: cased(value),
            name: decorate(value),
            superinvestor: decorate(value),
          }[kind];
          expect(readIdentifier(written, { superinvestors: true })).toContainEqual(
            expect.objectContaining({ key, kind }),
          );
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('a domain is the same with any scheme, "www.", port, path, query, fragment, final dot and case', () => {
  const domain = fc.constantFrom(
    'apple.com',
    'sap.de',
    'bbc.co.uk',
    'site.github.io',
    'münchen-rück.de',
    'gov.uk',
  );
  const decoration = fc.tuple(
    fc.constantFrom('', 'https://', 'HTTP://', '//', 'ftp://'),
    fc.constantFrom('', 'www.', 'WWW.'),
    someCase,
    fc.constantFrom('', '.'),
    fc.constantFrom('', ':443', ':'),
    fc.constantFrom('', '/', '/us/en', '/a:b/@c'),
    fc.constantFrom('', '?x=1', '?u=a@b.com'),
    fc.constantFrom('', '#top'),
  );
  fc.assert(
    fc.property(domain, decoration, (plain, [scheme, www, cased, dot, port, path, query, fragment]) => {
      const written = `${scheme}${www}${cased(plain)}${dot}${port}${path}${query}${fragment}`;
      expect(readWebHost(written)).toEqual(readWebHost(plain));
      expect(readWebHost(plain)).toBeDefined();
    }),
  );
});

test('a brand with nothing to be found by has no keys', () => {
  expect(
    keysOfBrand(brand({ id: 'nothing', name: '!', names: ['™', ' '], websites: ['http://10.0.0.1/'] })),
  ).toEqual([]);
});

test('any text of up to 256 characters has few readings, and reading it twice gives the same', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, name), (text) => {
      const readings = readIdentifier(text, { superinvestors: true });
      expect(readings.length).toBeLessThanOrEqual(32);
      expect(readIdentifier(text, { superinvestors: true })).toEqual(readings);
    }),
  );
});
