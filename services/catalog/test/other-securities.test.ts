import { type Brand, BrandType } from '@brand-data/contracts';
import { MemoryCatalogue } from '@brand-data/test/quality/memory-catalogue.ts';
import { brandOf } from '@brand-data/testing/brand-of';
import { expect, test } from 'vitest';
import { restoredDoc } from '../src/linkage/companies.ts';
import { linkedGroups } from '../src/linkage/linked-groups.ts';
import { planChange } from '../src/linkage/plan.ts';
import { sourceRecordsFromDoc } from '../src/records/catalog-doc.ts';
import { sourceRecordOf } from '../src/records/source-record.ts';

const security = (id: string, category: string, name: string, listing: string, isin = ''): Brand => {
  const [ticker = '', mic = ''] = listing.split('@');
  const listings = [{ ticker, mic, isin }];
  return brandOf(id, { type: BrandType.OTHER_SECURITY, category, name, description: '', rank: 0, listings });
};
/** A company of that rank; 0 if no source states one. */
const company = (name: string, listing: string, rank: number, isin = ''): Brand => {
  const [ticker = '', mic = ''] = listing.split('@');
  const id = listing.toLowerCase().replace('@', '-');
  return brandOf(id, { type: BrandType.STOCK, name, rank, listings: [{ ticker, mic, isin }] });
};

const catalogue = new MemoryCatalogue();
const securities = [
  security('arcx-spy', 'fund', 'SPDR S&P 500 ETF Trust', 'SPY@ARCX', 'US78462F1030'),
  security('arcx-gld', 'fund', 'SPDR Gold Trust', 'GLD@ARCX'),
  security('xnas-keep', 'fund', 'Keep Index ETF', 'KEEP@XNAS'),
  security('xnas-wlth', 'fund', 'Wealth Builder ETF', 'WLTH@XNAS'),
  security('xnas-dia', 'fund', 'Industrial Average ETF', 'DIA@XNAS'),
  security('xwbo-ryn', 'certificate', 'Rubis', 'RYN@XWBO', 'FR0013269123'),
  security('xwbo-call', 'certificate', 'VON CW PUT TESLA 720', 'VCALL@XWBO'),
  security('xnas-zvzzt', 'test_issue', 'NASDAQ TEST STOCK', 'ZVZZT@XNAS'),
  security('xnys-bac-pl', 'preferred_share', 'Bank of America Corp. Preferred Stock', 'BAC-PL@XNYS'),
];
const companies = [
  company('Smartpay Holdings Limited', 'SPY@XNZE', 480),
  company('SPDR GOLD TRUST', 'GLD@XNYS', 0),
  company('Keep Holdings plc', 'KEEP@XLON', 720),
  company('Wealthfront Corporation', 'WLTH@XNAS', 620),
  company('Dia', 'DIA@XMAD', 590),
  company('Rubis', 'RUI@XPAR', 640, 'FR0013269123'),
  company('Ryanair', 'RYN@XDUB', 400),
  company('SEEK Limited', 'SEK@XASX', 660),
  company('The Allstate Corporation', 'ALL@XNYS', 860),
  company('Advanced Micro Devices, Inc.', 'AMD@XNAS', 0),
  company('Audacy, Inc.', 'AUD@XNYS', 0),
  company('Infinity Natural Resources', 'INR@XNYS', 0),
  company('Nokia Corporation', 'NOK@XNYS', 0),
  company('Service Properties Trust', 'SVC@XNAS', 633),
  company('Bitcoin Group SE', 'ADE@XETR', 500),
  company('Solar Ltd', 'SOL@XASX', 420),
];
await catalogue.put('nasdaq-trader', securities);
await catalogue.put('feed', companies);

const answerTo = (identifier: string) => {
  const { meanings, noCompany } = catalogue.answer(identifier);
  return noCompany === undefined ? meanings[0]?.brand.name : `a ${noCompany.kind}, ${noCompany.name}`;
};

test.each([
  ['SPY', 'a fund, SPDR S&P 500 ETF Trust'],
  ['$SPY', 'a fund, SPDR S&P 500 ETF Trust'],
  ['spy', 'a fund, SPDR S&P 500 ETF Trust'],
  ['SPDR S&P 500 ETF Trust', 'a fund, SPDR S&P 500 ETF Trust'],
  ['US78462F1030', 'a fund, SPDR S&P 500 ETF Trust'],
  ['SPY.NZ', 'Smartpay Holdings Limited'],
  ['Smartpay', 'Smartpay Holdings Limited'],
  // A list without types has the fund as a company.
  ['GLD', 'a fund, SPDR Gold Trust'],
  ['SPDR Gold Trust', 'a fund, SPDR Gold Trust'],
  // A well-known company keeps its ticker, and so does an American company with a market value: the fund is of an old list.
  ['KEEP', 'Keep Holdings plc'],
  ['WLTH', 'Wealthfront Corporation'],
  // Written as a name, it is a name.
  ['DIA', 'a fund, Industrial Average ETF'],
  ['Dia', 'Dia'],
  // A certificate takes neither the name nor the ISIN nor the ticker of a company.
  ['Rubis', 'Rubis'],
  ['RUI', 'Rubis'],
  ['FR0013269123', 'Rubis'],
  ['RYN', 'Ryanair'],
  ['RYN.VI', 'a certificate, Rubis'],
  ['VCALL', 'a certificate, VON CW PUT TESLA 720'],
  ['VON CW PUT TESLA 720', undefined],
  ['ZVZZT', 'a test issue, NASDAQ TEST STOCK'],
  ['BAC/PL', 'a preferred share, Bank of America Corp. Preferred Stock'],
])('%s means %s', (identifier, meaning) => {
  expect(answerTo(identifier)).toBe(meaning);
});

test.each([
  ['SEK', 'a currency, Swedish Krona'],
  ['sek', 'a currency, Swedish Krona'],
  ['$SEK', 'SEEK Limited'],
  ['SEK.AX', 'SEEK Limited'],
  ['Seek', 'SEEK Limited'],
  ['ALL', 'The Allstate Corporation'],
  ['AMD', 'Advanced Micro Devices, Inc.'],
  ['EUR', 'a currency, Euro'],
  ['AUD', 'a currency, Australian Dollar'],
  ['NYSE:AUD', 'Audacy, Inc.'],
  ['INR', 'a currency, Indian Rupee'],
  ['NOK', 'Nokia Corporation'],
  ['SVC', 'Service Properties Trust'],
  ['BTC', 'a coin, Bitcoin'],
  ['SOL', 'a coin, Solana'],
  ['SOL.AX', 'Solar Ltd'],
  ['bitcoin', 'a coin, Bitcoin'],
  ['Bitcoin Group', 'Bitcoin Group SE'],
])('the code of a currency or a coin is no little-known company: %s means %s', (identifier, meaning) => {
  expect(answerTo(identifier)).toBe(meaning);
});

test('other securities are never suggested, and link no records', async () => {
  expect(await catalogue.suggest('SPDR S&P 500 ETF Trusd')).toEqual([]);
  const linked = [...catalogue.docs()].filter(({ contributions }) => contributions.length > 1);
  expect(linked).toEqual([]);
});

test('answers do not depend on whether a list of funds is imported before or after the companies', async () => {
  const reversed = new MemoryCatalogue();
  await reversed.put('feed', companies);
  await reversed.put('nasdaq-trader', securities);
  for (const { name, listings } of [...companies, ...securities])
    for (const identifier of [name, ...listings.flatMap(({ ticker, isin }) => [ticker, isin])])
      expect(reversed.answer(identifier)).toEqual(catalogue.answer(identifier));
});

test('another security of an export is restored as it was', () => {
  const puts = securities.slice(0, 1).map((brand) => sourceRecordOf('nasdaq-trader', 'run', brand));
  const steps = planChange({ puts }, new Map(), linkedGroups({ puts }, []));
  let step = steps.next();
  while (!step.done) step = steps.next();
  const docs = step.value.writes.flat().flatMap((write) => ('doc' in write ? write.doc : []));
  expect(docs).toHaveLength(1);
  for (const { revision: _, changedAt = new Date(), ...doc } of docs)
    expect(restoredDoc(doc._id, sourceRecordsFromDoc({ ...doc, revision: _ }), changedAt)).toMatchObject(doc);
});
