import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coreName, keysOfBrand, nameForms, normalName, readWebHost, resolve } from '../src/index.ts';
import { weakFormsOf } from '../src/names/weak-names.ts';
import { anyText, name, someCase, ticker } from './arbitraries.ts';
import { brand, candidate } from './brands.ts';

test('normalising a name twice has the same result as normalising it once', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, name), (text) => {
      const normal = normalName(text);
      expect(normalName(normal)).toBe(normal);
    }),
    { numRuns: 1000, examples: [['トヨタ ゛ ']] },
  );
});

test('removing legal forms twice has the same result as removing them once, and some text always remains', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, name), (text) => {
      const normal = normalName(text);
      const core = coreName(normal);
      expect(coreName(core)).toBe(core);
      expect(core === '').toBe(normal === '');
    }),
  );
});

test('a name without its spaces is in its normal form', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, name), (text) => {
      for (const form of weakFormsOf(text).joined) expect(normalName(form)).toBe(form);
    }),
    { numRuns: 1000, examples: [['삼성전자 ﾣ']] },
  );
});

/** Texts of printable ASCII that often contain the words and signs that normal forms treat specially. */
const asciiName = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.constantFrom('The', 'Acme', 'J', 'P', 'b', '&', '+', "'", 'Co., Ltd.', 'S.A.', 'SpA', 'A/S', 'Inc'),
      fc.constantFrom('Class A', 'Common Stock', 'Sponsored ADR', 'PT', 'd. d.', 'and', '3M', 'Holdings'),
    ),
    { maxLength: 6 },
  )
  .chain((parts) => fc.constantFrom(' ', '', ', ').map((between) => parts.join(between)));

test('the words of an ASCII name have the same forms beside a word of another script', () => {
  fc.assert(
    fc.property(asciiName, (text) => {
      expect(normalName(`${text} я`)).toBe(`${normalName(text)} я`.trim());
      const besideAscii = nameForms(`xq ${text}`);
      const besideCyrillic = nameForms(`я ${text}`);
      expect(
        besideCyrillic.map(({ form, strength }) => ({ form: form.replace(/^я/, 'xq'), strength })),
      ).toEqual(besideAscii);
    }),
    { numRuns: 1000 },
  );
});

test('a host is the same with a character percent-encoded', () => {
  const label = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'abzABZ019-'), minLength: 1, maxLength: 6 }),
    fc.constantFrom(
      'www',
      'xn--mnchen-3ya',
      'XN--MNCHEN-3YA',
      'xn--a',
      'XN--',
      'github',
      'co',
      '0x1f',
      '127',
    ),
  );
  const host = fc
    .tuple(
      fc.array(label, { maxLength: 3 }),
      fc.constantFrom('com', 'COM', 'co.uk', 'io', 'xn--p1ai', '1', 'nosuch'),
    )
    .map(([labels, suffix]) => [...labels, suffix].join('.'));
  fc.assert(
    fc.property(host, fc.nat(), (plain, at) => {
      const place = at % plain.length;
      const code = plain.charCodeAt(place).toString(16);
      const written = `${plain.slice(0, place)}%${code}${plain.slice(place + 1)}`;
      expect(readWebHost(written)).toEqual(readWebHost(plain));
    }),
    { numRuns: 1000 },
  );
});

test('a ticker has the same keys in full-width characters', () => {
  const fullWidth = (text: string) =>
    text.replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));
  const keysOf = (ticker: string) =>
    keysOfBrand(brand({ id: 'it', name: '', listings: [{ ticker, mic: 'XNYS' }] })).map(({ key }) => key);
  const text = fc.string({ unit: fc.constantFrom(...'ABPRZ019&-'), minLength: 1, maxLength: 14 });
  fc.assert(
    fc.property(fc.oneof(ticker, text, fc.constantFrom('ALA-PRA', 'ALA-P-A', 'ALA-PR-A')), (written) => {
      expect(keysOf(fullWidth(written))).toEqual(keysOf(written));
    }),
    { numRuns: 1000 },
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
  ['Gap (The)', 'gap'],
  ['Enel SpA', 'enel'],
  ['ENEL SPA', 'enel'],
  ['Enel s.p.a.', 'enel'],
  ['Everfuel AS', 'everfuel'],
  ['Akbank T.A.Ş.', 'akbank'],
  ['Koç Holding A.Ş.', 'koc holding'],
  ['Krka, d. d.', 'krka'],
  ['Fresenius SE & Co. KGaA', 'fresenius'],
  ['UG Beispiel UG (haftungsbeschränkt)', 'ug beispiel'],
  ['Swarovski Ges.m.b.H.', 'swarovski'],
  ['Galp Energia, SGPS, S.A.', 'galp energia'],
  ['Fiskars Oyj Abp', 'fiskars'],
  ['ŠKODA AUTO a.s.', 'skoda auto'],
  ['Spółka Testowa Spółka z ograniczoną odpowiedzialnością', 'spolka testowa'],
  ['Газпром (публичное акционерное общество)', 'газпром'],
  ['טבע תעשיות בע״מ', 'טבע תעשיות'],
  ['บริษัท ปตท. จำกัด (มหาชน)', 'ปตท'],
  ['Bank Mandiri (Persero) Tbk PT', 'bank mandiri'],
  ['Infosys Limited Sponsored ADR', 'infosys'],
  ['Liberty Media Corp. Series C Common Stock', 'liberty media'],
  ['株式会社b b', 'bb'],
])('the legal form of %j is removed', (value, core) => {
  expect(coreName(value)).toBe(core);
});

test.each([
  'Day Spa',
  'day spa',
  'Same As',
  'Scooby Doo',
  'The Ordinary',
  'Standard Chartered',
  'Google Ads',
  'Xbox Series X',
  'P. T. Barnum',
  'AS Roma',
  'AB Foods',
  'Limited',
  'Spa',
  'Co',
])('%j loses no word that may be part of its name', (value) => {
  expect(coreName(value)).toBe(normalName(value).replace(/^the /, ''));
});

test.each([
  ['Müller', 'Mueller'],
  ['Mærsk Møller', 'Maersk Moeller'],
  ['Ångpanneföreningen', 'Aangpannefoereningen'],
])('%j is found written as %j, and without its marks', (value, spelled) => {
  const record = candidate(brand({ id: 'it', name: value }));
  for (const written of [spelled, value.normalize('NFD').replace(/\p{M}/gu, '')]) {
    expect(resolve(written, [record], { superinvestors: false })).toMatchObject({
      id: 'it',
      strength: 'exact',
    });
  }
  const plain = candidate(brand({ id: 'plain', name: spelled }));
  expect(resolve(value, [plain], { superinvestors: false })).toMatchObject({
    id: 'plain',
    strength: 'exact',
  });
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

test('a brand without names, domains, tickers and identifiers has no keys', () => {
  expect(
    keysOfBrand(brand({ id: 'nothing', name: '!', names: ['™', ' '], websites: ['http://10.0.0.1/'] })),
  ).toEqual([]);
});
