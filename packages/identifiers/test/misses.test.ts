import { createToken } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explainMiss, flawOf } from '../src/index.ts';
import { anyText } from './arbitraries.ts';

const companies = { superinvestors: false };
const everyone = { superinvestors: true };
const ADVICE = 'Give a ticker, a domain or a company name.';
const PATH = 'It is a path. Give the ticker, domain or name alone.';
const COLON =
  'One side of the colon is empty. Write the exchange before it and the ticker after it: XETR:APC.';
const unknown = (suffix: string) =>
  `"${suffix}" is neither the suffix of a known exchange, as in "APC.DE", nor a public suffix of domains.`;
const checkDigit = (what: string) => `It has the form of ${what} wrong: a character is mistyped.`;

describe('a miss is explained', () => {
  test.each([
    ['zorbulax industries', 'It was tried as a name.', ADVICE],
    ['ZORBX', 'It was tried as a ticker and as a name.', ADVICE],
    [
      'ZORBX.DE',
      'It was tried as the ticker ZORBX (Xetra, Börse Frankfurt and others), as a ticker, as the domain zorbx.de and as a name.',
      ADVICE,
    ],
    [
      'XETR:ZORBX',
      'It was tried as the ticker ZORBX (Xetra, Börse Frankfurt and others) and as a name.',
      ADVICE,
    ],
    ['https://www.zorbx.com/about?x=1', 'It was tried as the domain zorbx.com and as a name.', ADVICE],
    [
      'shop.zorbx.com',
      'It was tried as a ticker, as the domain shop.zorbx.com, as the domain zorbx.com and as a name.',
      ADVICE,
    ],
    ['XX5801351017', 'It was tried as the ISIN XX5801351017, as a ticker and as a name.', ADVICE],
    ['?!', 'It has no letter and no digit.'],
    [
      'Microsoft (AAPL)',
      'It was tried as a name.',
      'No company has both the name "Microsoft" and the ticker "AAPL". Give one of the two.',
    ],
    // E-mail addresses.
    [
      'jane@mail.apple.com',
      'It was tried as a name.',
      'It is an e-mail address. Give its domain: apple.com.',
    ],
    [
      'mailto:jane@apple.com',
      'It was tried as a name.',
      'It is an e-mail address. Give its domain: apple.com.',
    ],
    [
      'sales@localhost',
      'It was tried as a name.',
      'It is an e-mail address, and "localhost" is no public domain.',
    ],
    // Wrong check digits and lengths.
    [
      'US0378331006',
      'It was tried as a ticker and as a name.',
      checkDigit('an ISIN, but its check digit is'),
    ],
    ['ISIN: us-037833-1006', 'It was tried as a name.', checkDigit('an ISIN, but its check digit is')],
    ['037833101', 'It was tried as a ticker and as a name.', checkDigit('a CUSIP, but its check digit is')],
    ['BBG000B9XRY5', 'It was tried as a ticker and as a name.', checkDigit('a FIGI, but its check digit is')],
    ['HWUPKR0MPOU8FGXBT395', 'It was tried as a name.', checkDigit('an LEI, but its check digits are')],
    [
      'US037833100',
      'It was tried as a ticker and as a name.',
      'If an ISIN is meant, it must have 12 characters. This has 11.',
    ],
    [
      '03783310',
      'It was tried as a ticker and as a name.',
      'If a CUSIP is meant, it must have 9 characters. This has 8.',
    ],
    [
      'CUSIP apple',
      'It was tried as a ticker and as a name.',
      'If a CUSIP is meant, it must have 9 characters. This has 5.',
    ],
    ['ISIN: ABCDEFGHIJKL', 'It was tried as a name.', 'It does not have the form of an ISIN.'],
    // Paths, files and addresses.
    ['/v1/brands/AAPL', 'It was tried as a name.', PATH],
    ['../../etc/passwd', 'It was tried as a name.', PATH],
    ['C:\\logos\\apple', 'It was tried as a name.', PATH],
    [
      'apple.svg',
      'It was tried as a ticker and as a name.',
      '".svg" is the extension of a file, not the end of a domain.',
    ],
    ['http://', 'It was tried as a name.', 'It is an address without a domain.'],
    [
      'http://localhost:8080/x',
      'It was tried as a name.',
      '"localhost" is no domain: it has no public suffix such as ".com".',
    ],
    [
      'https://apple.invalid/',
      'It was tried as a name.',
      '".invalid" is no public suffix of domains, such as ".com".',
    ],
    [
      '192.168.0.1',
      'It was tried as a name.',
      'It is an IP address, which no company is known by. Give a domain.',
    ],
    [
      'https://[2001:db8::1]:443/x',
      'It was tried as a name.',
      'It is an IP address, which no company is known by. Give a domain.',
    ],
    // Exchanges.
    ['AAPL.ZZ', 'It was tried as a ticker and as a name.', unknown('ZZ')],
    ['apple.con', 'It was tried as a ticker and as a name.', unknown('con')],
    ['ZZZ9:AAPL.X', 'It was tried as the ticker AAPL-X (ZZZ9) and as a name.', ADVICE],
    ['FOO:AAPL.XY', 'It was tried as a name.', 'Neither "FOO" nor "AAPL.XY" is a known exchange.'],
    ['XNAS:', 'It was tried as a name.', COLON],
    [':AAPL', 'It was tried as a name.', COLON],
    // Words.
    ['on', 'It was tried as a ticker and as a name.', 'It is a common word. Write a ticker in capitals: ON.'],
    // Encoding.
    ['AT%26T', 'It was tried as a name.', 'It is percent-encoded twice. Encode it once.'],
    ['goldman+sachs', 'It was tried as a name.', 'A "+" in a path is a plus sign. Encode a space as "%20".'],
  ])('%s', (identifier, ...sentences) => {
    expect(explainMiss(identifier, companies)).toBe(
      [`No company is known by "${identifier}".`, ...sentences].join(' '),
    );
  });

  test('saying what the identifier means that is no company', () => {
    const noCompany = { kind: 'fund', name: 'SPDR S&P 500 ETF Trust' };
    expect(explainMiss('SPY', { ...companies, noCompany })).toBe(
      'SPY is a fund, SPDR S&P 500 ETF Trust. It is no company. If you mean a company, give its name, or its ticker with the exchange.',
    );
    const token = 'pk_live_0123456789abcdef';
    expect(explainMiss(token, { ...companies, noCompany })).not.toContain(token);
  });

  test('naming superinvestors only where they count', () => {
    expect(explainMiss('Jane Doe', everyone)).toBe(
      'No company and no superinvestor is known by "Jane Doe". It was tried as a ticker and as a name. Give a ticker, a domain, or the name of a company or superinvestor.',
    );
    expect(explainMiss('Jane Doe', companies)).not.toContain('superinvestor');
    expect(explainMiss('Jane Doe', { ...companies, namesSuperinvestor: true })).toBe(
      'No company is known by "Jane Doe". It was tried as a ticker and as a name. A superinvestor has this name. Only /v1/brands/{identifier} answers superinvestors.',
    );
  });

  test('in a bounded number of characters, whatever the identifier', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(explainMiss(text, everyone).length).toBeLessThan(1_000);
      }),
    );
  });
});

describe('a secret that was typed as an identifier', () => {
  const secret = fc.noShrink(fc.constant(null).map(() => createToken()));
  const around = fc.constantFrom<(token: string) => string>(
    (token) => token,
    (token) => ` ${token.toUpperCase()} `,
    (token) => `AAPL?token=${token}`,
    (token) => `https://api.example.com/v1/brands/AAPL?token=${token.slice(3)}`,
    (token) => `Bearer ${token.slice(3)}`,
    (token) => encodeURIComponent(`?token=${token}`),
    (token) => `token ${token}`,
    (token) => token.slice(0, 12),
    (token) => `Aa1${token.slice(3)}`,
    (token) => `https://jane:${token.slice(3)}@example.com/`,
    (token) => `jane:${token.slice(3)}@example.com`,
    (token) => `token=${token.slice(3)}`,
    (token) => `Authorization: Bearer ${token.slice(3)}`,
    (token) => token.replace('_', '%255F'),
    (token) => `100% ${token.replace('_', '%5F')}`,
    (token) => encodeURIComponent(`https://jane:${token.slice(3)}@example.com`),
    (token) => encodeURIComponent(encodeURIComponent(`jane:${token.slice(3)}@example.com`)),
    (token) => `https://jane:p#${token.slice(3)}@example.com/`,
    (token) => `jane:p/${token.slice(3)}@example.com`,
    (token) => `https://jane:p@${token.slice(3)}/`,
    (token) => `mailto:jane:${token.slice(3)}@example.com`,
    (token) => `AAPL?x=1&token=${token}`,
    (token) => `?token=${token}`.normalize('NFKC').replace('token', 'ｔｏｋｅｎ'),
    (token) => `?to\u200bken=${token}`,
  );

  test('is never repeated', () => {
    fc.assert(
      fc.property(secret, around, (token, wrap) => {
        const flaw = flawOf(wrap(token));
        const explanation = explainMiss(wrap(token), everyone);
        expect(flaw?.isSecret, wrap(token)).toBe(true);
        for (const part of [explanation, ...(flaw?.instead ?? [])])
          expect(part.toLowerCase()).not.toContain(token.slice(3, 12).toLowerCase());
      }),
    );
  });

  test.each([
    'SK Hynix',
    'Spikes',
    'Bearing Co',
    'Token',
    'pk energy',
    'McDonald’s Corporation 2024 Holdings',
    'mailto:jane@apple.com',
    'https://www.youtube.com/@apple',
    'Authorization Systems',
  ])('is not suspected in "%s"', (identifier) => {
    expect(flawOf(identifier)?.isSecret).toBeUndefined();
  });
});

test.each([
  ['jane@apple.com', ['apple.com']],
  ['US0378331006', ['US0378331005']],
  ['03783310', ['037833100']],
  ['HWUPKR0MPOU8FGXBT395', ['HWUPKR0MPOU8FGXBT394']],
  ['/v1/brands/AAPL', ['AAPL']],
  ['/api/logos/AAPL/info', ['AAPL']],
  ['logos/apple.svg', ['apple']],
  ['AAPL.ZZ', ['AAPL']],
  ['www.apple.con', ['apple']],
  ['FOO:AAPL.XY', ['AAPL.XY', 'FOO']],
  ['AT%26T', ['AT&T']],
  ['goldman+sachs', ['goldman sachs']],
  ['Microsoft (AAPL)', ['Microsoft', 'AAPL']],
  ['AAPL - Microsoft', ['Microsoft', 'AAPL']],
  ['It', ['IT']],
  ['192.168.0.1', []],
  ['https://jane:pa/ss@apple.com/x', ['apple.com']],
  ['https%3A%2F%2Fjane%3Ahunter2%40apple.com', ['apple.com']],
])('"%s" may have meant %j', (identifier, instead) => {
  expect(flawOf(identifier)?.instead).toEqual(instead);
});

test.each([
  'Apple',
  'AAPL',
  'IT',
  '$it',
  'Coke',
  'apple.com',
  'APC.DE',
  'US0378331005',
  'BRK/B',
  'AC/DC',
  'トヨタ',
  'Disney+',
  'Banco Santander (Brasil)',
  'A/S Foo',
])('nothing is wrong with "%s" itself', (identifier) => {
  expect(flawOf(identifier)).toBeUndefined();
});
