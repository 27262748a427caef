import { expect, test } from 'vitest';
import {
  EXCHANGES,
  exchangeOfMic,
  exchangesOfBloombergCode,
  exchangesOfPrefix,
  exchangesOfYahooSuffix,
} from '../src/index.ts';

const micsOf = (exchanges: readonly { mic: string }[]): string[] => exchanges.map(({ mic }) => mic);

test('a MIC, a segment included, means one venue', () => {
  const all = EXCHANGES.flatMap(({ mic, otherMics = [] }) => [mic, ...otherMics]);
  expect(new Set(all).size).toBe(all.length);
  expect(all.filter((mic) => !/^[A-Z0-9]{4}$/.test(mic))).toEqual([]);
  expect(exchangeOfMic('XNGS')?.mic).toBe('XNAS');
  expect(exchangeOfMic('ABCD')).toBeUndefined();
});

test('a Yahoo suffix means one venue, and venues in the United States have no suffix', () => {
  for (const { country, yahoo } of EXCHANGES) {
    if (country === 'US') expect(yahoo).toEqual([]);
    for (const suffix of yahoo) expect(micsOf(exchangesOfYahooSuffix(suffix))).toHaveLength(1);
  }
  expect(micsOf(exchangesOfYahooSuffix('DE'))).toEqual(['XETR']);
});

test("a Bloomberg code that several venues share is one country's", () => {
  for (const code of EXCHANGES.flatMap(({ bloomberg }) => bloomberg)) {
    expect(new Set(exchangesOfBloombergCode(code).map(({ country }) => country)).size).toBe(1);
  }
  expect(micsOf(exchangesOfBloombergCode('US'))).toEqual(['XNAS', 'XNYS', 'XASE', 'ARCX', 'BATS', 'OTCM']);
  expect(micsOf(exchangesOfBloombergCode('GR'))).toEqual(expect.arrayContaining(['XETR', 'XFRA', 'XBER']));
});

test('every short code and MIC works as a prefix, in any case', () => {
  for (const { mic, code } of EXCHANGES) {
    expect(micsOf(exchangesOfPrefix(mic.toLowerCase()))).toContain(mic);
    expect(micsOf(exchangesOfPrefix(code))).toContain(mic);
  }
});

test("the codes by which data sources name the main exchanges are prefixes, and so is an exchange's full name", () => {
  const codes = {
    BER: 'XBER',
    GER: 'XETR',
    JPX: 'XTKS',
    LSE: 'XLON',
    MEX: 'XMEX',
    TOR: 'XTSE',
    NMS: 'XNAS',
    NYQ: 'XNYS',
  };
  for (const [code, mic] of Object.entries(codes)) expect(micsOf(exchangesOfPrefix(code))).toEqual([mic]);
  expect(micsOf(exchangesOfPrefix('New York Stock Exchange'))).toEqual(['XNYS']);
  expect(exchangeOfMic('XJPX')?.mic).toBe('XTKS');
});

test('a prefix that several venues share finds all of them', () => {
  expect(micsOf(exchangesOfPrefix('TSE'))).toEqual(['XTSE', 'XTKS']);
  expect(micsOf(exchangesOfPrefix('KRX'))).toEqual(['XKRX', 'XKOS']);
});
