import { Brand, BrandType, Quote, type Stock } from '@brand-data/contracts';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { placeQuote } from '../src/records/quotes.ts';

/** Returns a listed company: "GLE@XPAR", with figures. */
function company(listing: string, stock: Partial<Stock> = {}, rank = 500) {
  const [ticker = '', mic = ''] = listing.split('@');
  const listings = [{ ticker, mic, isin: stock.isin ?? '' }];
  const brand = brandOf(listing.toLowerCase(), { type: BrandType.STOCK, listings, stock, rank });
  return { id: brand.id, rank, tieBreak: 0, bytes: Brand.encode(brand).finish() };
}

/** Returns the listing that gets the quote, or why none gets it. */
function placed(quote: Partial<Quote>, ...companies: ReturnType<typeof company>[]) {
  const result = placeQuote('prices', 'prices-1', Quote.fromPartial(quote), companies);
  return 'id' in result ? result.id : result;
}

const figures = (stock: Partial<Stock>) => ({ stock }) as Partial<Quote>;
const skipped = (reason: RegExp) => ({ skipped: expect.stringMatching(reason) });
const refused = (reason: RegExp) => ({ refused: expect.stringMatching(reason) });

describe('a quote with nothing but a ticker', () => {
  test.each([
    ['GLE@XPAR', 'GLE', 'USD'],
    ['NG@XLON', 'NG', 'USD'],
    ['III@XLON', 'III', ''],
    ['MB@XMIL', 'MB', ''],
    ['SAP@XETR', 'SAP', 'USD'],
    ['AAPL@XNAS', 'AAPL', 'EUR'],
  ])('never lands on a main listing in another currency: %s, %s in "%s"', (listing, symbol, currency) => {
    const quote = { symbol, ...figures({ price: 4, currency }) };
    expect(placed(quote, company(listing))).toEqual(skipped(/XPAR|XLON|XMIL|XETR|XNAS.*give its venue/));
  });

  test('lands on the company whose main listing trades in its currency, however well known a namesake is', () => {
    const both = [company('III@XLON', {}, 900), company('III@XNAS', {}, 300)];
    expect(placed({ symbol: 'III', ...figures({ price: 4, currency: 'USD' }) }, ...both)).toBe('XNAS:III');
    expect(placed({ symbol: 'III', ...figures({ price: 31, currency: 'GBP' }) }, ...both)).toBe('XLON:III');
  });

  test('lands on a main listing whose own currency is not that of its country', () => {
    const quote = { symbol: 'CCL', ...figures({ price: 20, currency: 'USD' }) };
    expect(placed(quote, company('CCL@XLON', { currency: 'USD' }))).toBe('XLON:CCL');
  });

  test('lands where its currency is that of the country, before a fund abroad that is quoted in it', () => {
    const both = [company('FANG@XLON', { currency: 'USD' }, 900), company('FANG@XNAS', {}, 300)];
    expect(placed({ symbol: 'FANG', ...figures({ price: 4, currency: 'USD' }) }, ...both)).toBe('XNAS:FANG');
  });

  test('is refused if main listings in two countries have its ticker and its currency', () => {
    const quote = { symbol: 'ABC', ...figures({ price: 4, currency: 'EUR' }) };
    expect(placed(quote, company('ABC@XPAR'), company('ABC@XMIL'))).toEqual(
      refused(/XPAR:ABC.*XMIL:ABC|XMIL:ABC.*XPAR:ABC/),
    );
    expect(placed(quote, company('ABC@XPAR'), company('ABC@XMIL', { price: 400, currency: 'EUR' }))).toBe(
      'XPAR:ABC',
    );
  });

  test('is refused if its price is far from the known one', () => {
    const known = company('MB@XNAS', { price: 100, currency: 'USD' });
    const quote = (price: number) => ({ symbol: 'MB', ...figures({ price, currency: 'USD' }) });
    expect(placed(quote(3), known)).toEqual(refused(/price 3 is far from 100 of XNAS:MB/));
    expect(placed(quote(3000), known)).toEqual(refused(/far/));
    expect(placed(quote(11), known)).toBe('XNAS:MB');
  });

  test('keeps its company after a split, if the market value is like the known one', () => {
    const known = company('CMG@XNYS', { price: 3200, currency: 'USD', marketCapUsd: 9e10 });
    const quote = { symbol: 'CMG', ...figures({ price: 64, currency: 'USD', marketCapUsd: 8.8e10 }) };
    expect(placed(quote, known)).toBe('XNYS:CMG');
    const namesake = { symbol: 'CMG', ...figures({ price: 3100, currency: 'USD', marketCapUsd: 5e7 }) };
    expect(placed(namesake, known)).toEqual(refused(/market_cap_usd 50000000/));
  });
});

test('a quote with its venue or its ISIN goes by that, whatever its price', () => {
  const known = company('NG@XLON', { isin: 'GB00BDR05C01', price: 10, currency: 'GBP' });
  const odd = figures({ price: 5_000, currency: 'GBP' });
  expect(placed({ symbol: 'NG', ...odd }, known)).toEqual(refused(/far/));
  for (const quote of [
    { symbol: 'NG.L' },
    { symbol: 'NG', mic: 'XLON' },
    { isin: 'GB00BDR05C01' },
    { isin: 'GB00BDR05C01', mic: 'XLON' },
    { symbol: 'NG', isin: 'GB00BDR05C01' },
  ])
    expect(placed({ ...quote, ...odd }, known), JSON.stringify(quote)).toBe('XLON:NG');
  expect(placed({ symbol: 'NG', mic: 'XNYS', ...odd }, known)).toEqual(skipped(/no company here/));
  expect(placed({ symbol: 'NG', isin: 'CA66987E2069', ...odd }, known)).toEqual(skipped(/no company here/));
  expect(placed({ isin: 'GB00BDR05C01', mic: 'XNYS', ...odd }, known)).toEqual(skipped(/no company here/));
});

test('a quote of the security in another currency is one of another venue', () => {
  const known = company('AAPL@XNAS', { isin: 'US0378331005' });
  const quote = { isin: 'US0378331005', ...figures({ price: 200, currency: 'EUR' }) };
  expect(placed(quote, known)).toEqual(skipped(/XNAS:AAPL trades in USD, and the quote is in EUR/));
});

test('where a quote without a venue lands does not depend on the order of companies', () => {
  const pool = ['ABC@XNAS', 'ABC@XPAR', 'ABC@XMIL', 'ABC@XLON', 'ABC@XTSE'].map((listing, index) =>
    company(listing, { price: 10 ** index }, 400 + index),
  );
  const currency = fc.constantFrom('USD', 'EUR', 'GBP', 'CAD', 'JPY', '');
  fc.assert(
    fc.property(
      fc.shuffledSubarray(pool),
      currency,
      fc.integer({ min: 1, max: 1e5 }),
      (some, currency, price) => {
        const quote = { symbol: 'ABC', ...figures({ price, currency }) };
        expect(placed(quote, ...some.toReversed())).toEqual(placed(quote, ...some));
      },
    ),
  );
});
