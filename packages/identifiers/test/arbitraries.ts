import { BrandType } from '@brand-data/contracts';
import fc from 'fast-check';
import { brand } from './brands.ts';

export const anyText = fc.string({ unit: 'binary', maxLength: 256 });
const WORDS = `Apple Nestlé Häagen Møller Straße Ærø McDonald’s İş Łódź Ελληνικός Ёлка
  トヨタ ドコモ スープ カﾞス 삼성전자 ไทย भारत 3M A b`.split(/\s+/);
const word = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }));
export const name = fc
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

export const someCase = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.toUpperCase(),
  (text: string) => text.toLowerCase(),
);
export const dash = fc.constantFrom('-', '–', '—', '‑', '−', '－');
const apostrophe = fc.constantFrom("'", '’', '‘', 'ʼ', '`', '´', '＇');
const accent = fc.constantFrom('', '\u0301', '\u0308', '\u0327');
const spaces = fc.constantFrom('', ' ', '  ');

/** Spellings of a name that a person considers equal. */
export const nameDecoration = fc
  .tuple(someCase, dash, apostrophe, accent, spaces, fc.constantFrom('NFC', 'NFD'))
  .map(([cased, hyphen, quote, mark, blank, form]) => (text: string) => {
    const marked = cased(text).replace(/[a-z]/gi, (letter) => letter + mark);
    return (blank + marked + blank)
      .replace(/ /g, (space) => (blank === '' ? hyphen : space))
      .replace(/['’]/g, quote)
      .replace(/[a-z](?=[a-z])/i, (letter) => letter + quote)
      .normalize(form);
  });

const TICKERS = `AAPL, BRK-B, BT-A, BP., M&M, RDS A, ALA.PR.A, ALA-PA, AMX B, AMXB, WALMEX *,
  7203, 130A, 0700, 700, 000001, 005930, 2222, 0050, V, X.L`.split(/,\s+/);
export const ticker = fc.constantFrom(...TICKERS);
const mic = fc.constantFrom(
  '',
  ...'XNAS XNGS XETR XLON XHKG XTKS XNSE XKRX XSHE XTAI XMEX XTSE XSAU xetr ZZZZ'.split(' '),
);
const isin = fc.constantFrom(
  '',
  ...'US0378331005 JP3633400001 KYG875721634 US-037833100-5 US0378331000'.split(' '),
);
const cusip = fc.constantFrom('', '037833100', '037833 10 0', '084670702', 'G0177J108', '037833101');
const figi = fc.constantFrom('', 'BBG000B9XRY4', 'BBG001S5N8V8', 'bbg001s5n8v8', 'BBG000B9XRY5');
const figis = { compositeFigi: figi, shareClassFigi: figi };
const lei = fc.constantFrom('', 'HWUPKR0MPOU8FGXBT394', 'HWUPKR0MPOU8FGXBT395');
const SITES = `https://www.apple.com/ https://corporate.mcdonalds.com/x https://site.github.io
  https://www.münchen-rück.de https://www.gov.uk/ https://例え.jp/`.split(/\s+/);
const sites = fc.constantFrom(...SITES);
export const company = fc
  .record({
    id: fc.constant('company'),
    rank: fc.constant(700),
    name,
    names: fc.array(fc.oneof(name, anyText), { maxLength: 3 }),
    formerly: fc.array(name, { maxLength: 2 }),
    listings: fc.array(fc.record({ ticker, mic, primary: fc.boolean(), isin, cusip, figi, ...figis }), {
      maxLength: 4,
    }),
    isin,
    cusip,
    lei,
    websites: fc.array(sites, { maxLength: 2 }),
    domains: fc.array(fc.constantFrom('mcd.com', 'github.io', 'münchen.de'), { maxLength: 2 }),
  })
  .map(brand);
export const manager = fc
  .record({ name, manager: name, firm: name })
  .map((names) => brand({ id: 'manager', type: BrandType.SUPERINVESTOR, ...names }));
