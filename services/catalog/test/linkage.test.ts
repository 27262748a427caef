import type { Brand } from '@brand-data/contracts';
import { expect, test } from 'vitest';
import { type Change, linkedGroups, storedCompanyFromDoc } from '../src/linkage/linked-groups.ts';
import { planChange } from '../src/linkage/plan.ts';
import type { PutRefusedLink } from '../src/linkage/refused-links.ts';
import type { CatalogDoc } from '../src/records/catalog-doc.ts';
import { referenceOf, type SourceRecord, sourceRecordOf } from '../src/records/source-record.ts';
import { stockOf } from './running-catalog.ts';

/** One record of a source: "source/id". */
type Reference = string;
interface Put {
  readonly source: string;
  readonly brand: Brand;
}

class Catalogue {
  readonly #docs = new Map<string, CatalogDoc>();
  refusedLinks: readonly PutRefusedLink[] = [];

  put(...puts: Put[]): this {
    return this.#apply({ puts: puts.map(({ source, brand }) => sourceRecordOf(source, 'run', brand)) });
  }

  remove(...references: Reference[]): this {
    return this.#apply({
      puts: [],
      isRemoved: (record: SourceRecord) => references.includes(referenceOf(record)),
    });
  }

  #apply(change: Change): this {
    const stored = new Map([...this.#docs].map(([id, doc]) => [id, storedCompanyFromDoc(doc)]));
    const steps = planChange(change, stored, linkedGroups(change, stored.values()));
    let step = steps.next();
    while (!step.done) step = steps.next();
    for (const write of step.value.writes.flat()) {
      if ('before' in write) this.#docs.delete(write.before._id);
      if ('doc' in write) this.#docs.set(write.doc._id, write.doc);
    }
    this.refusedLinks = step.value.refusedLinks;
    return this;
  }

  /** The source records of each company, sorted. */
  companies(): Reference[][] {
    return [...this.#docs.values()].map(({ contributions }) => contributions.map(referenceOf).sort()).sort();
  }
}

/** Returns all orders of the items. */
function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first, index) => ordersOf(items.toSpliced(index, 1)).map((rest) => [first, ...rest]));
}

/** Returns the companies, which are the same whatever the order in which the records are put. */
function companiesOf(...puts: Put[]): Reference[][] {
  const [first = [], ...others] = ordersOf(puts).map((order) => {
    const catalogue = new Catalogue();
    for (const put of order) catalogue.put(put);
    return catalogue.companies();
  });
  for (const other of others) expect(other).toEqual(first);
  return first;
}

type Facts = Parameters<typeof stockOf>[2];
const put = (source: string, id: string, ticker: string, facts: Facts): Put => ({
  source,
  brand: stockOf(id, ticker, facts),
});
const at = (city: string, countryCode: string) => ({ company: { headquarters: { city, countryCode } } });

const SNAP_ISIN = { stock: { isin: 'US83304A1060' } };
const snap = put('sample', 'snap', 'SNAP@XNYS', {
  name: 'Snap',
  names: ['Snap Inc.'],
  links: { websites: ['https://snap.com'] },
  ...at('Santa Monica', 'US'),
  ...SNAP_ISIN,
});
const ups = put('filings', 'ups', 'UPS@XBER', {
  name: 'United Parcel Service, Inc.',
  links: { websites: ['https://ups.com'] },
  ...at('Atlanta', 'US'),
  ...SNAP_ISIN,
});
const snapAbroad = put('filings', 'snap-inc', '1SI@XBER', { name: 'Snap Inc.', ...SNAP_ISIN });

test('a wrong ISIN on UPS joins it neither with Snap nor keeps Snap’s own record out', () => {
  expect(companiesOf(snap, ups, snapAbroad)).toEqual([['filings/snap-inc', 'sample/snap'], ['filings/ups']]);
});

test('Merck KGaA and Merck & Co. stay two companies, whichever identifier they share', () => {
  const facts = { stock: { isin: 'DE0006599905' }, listings: [{ ticker: 'MRK', mic: 'XETR' }] };
  expect(
    companiesOf(
      put('sample', 'merck-kgaa', 'MRK@XETR', { name: 'Merck KGaA', ...at('Darmstadt', 'DE'), ...facts }),
      put('filings', 'merck', '6MK@XBER', {
        name: 'Merck & Co., Inc.',
        ...at('Rahway', 'US'),
        stock: facts.stock,
      }),
    ),
  ).toEqual([['filings/merck'], ['sample/merck-kgaa']]);
});

test('of two records of a source, the one with the company’s name joins, though the other one agrees in two facts too', () => {
  const isin = { stock: { isin: 'GB0002634946' } };
  expect(
    companiesOf(
      put('sample', 'kestrel', 'KES@XLON', { name: 'Kestrel Mining', ...at('London', 'GB'), ...isin }),
      put('filings', 'a-otter', 'OTR@XBER', { name: 'Otter Foods', ...at('London', 'GB'), ...isin }),
      put('filings', 'b-kestrel', 'KE1@XBER', { name: 'KESTREL MNG', ...isin }),
    ),
  ).toEqual([['filings/a-otter'], ['filings/b-kestrel', 'sample/kestrel']]);
});

test('a record that contradicts another record of the company does not join it', () => {
  const list = put('feed', 'kestrel', 'KES@XNAS', { name: 'Kestrel Inc.', ...at('', 'US') });
  const sample = put('sample', 'kestrel-us', 'KES@XNAS', { name: 'Kestrel', ...at('Boston', 'US') });
  const german = put('filings', 'kestrel-de', 'KES@XNAS', { name: 'Kestrel', ...at('Bonn', 'DE') });
  expect(companiesOf(list, sample, german)).toEqual([
    ['feed/kestrel', 'sample/kestrel-us'],
    ['filings/kestrel-de'],
  ]);
});

test('a brand of a company with several websites joins it, though another source states only one of them', () => {
  const bank = put('sample', 'kestrel', 'KES@XNYS', {
    name: 'Kestrel Bank',
    names: ['Otter'],
    domains: ['kestrelbank.com', 'otter.com'],
    ...at('New York', 'US'),
  });
  const listed = put('filings', 'kestrel-bank', 'KES@XNYS', {
    name: 'Kestrel Bank Inc.',
    domains: ['kestrelbank.com'],
  });
  const icon = put('simple-icons', 'otter', '@', { name: 'Otter', listings: [], domains: ['otter.com'] });
  expect(companiesOf(bank, listed, icon)).toEqual([
    ['filings/kestrel-bank', 'sample/kestrel', 'simple-icons/otter'],
  ]);
});

test('a legal form before the name, in full, is no part of it', () => {
  expect(
    companiesOf(
      put('sample', 'gazprom', 'GAZP@MISX', { name: 'Gazprom', domains: ['gazprom.com'] }),
      put('filings', 'gaz', 'GAZ@XETR', {
        name: 'Public Joint Stock Company Gazprom',
        domains: ['gazprom.com'],
      }),
    ),
  ).toEqual([['filings/gaz', 'sample/gazprom']]);
});

test('a share class, a depositary receipt and a dual listing join their company by a second fact', () => {
  const shell = put('sample', 'kestrel', 'KES@XLON', {
    name: 'Kestrel Mining',
    links: { websites: ['https://kestrel.com'] },
    stock: { isin: 'GB0002634946' },
    ...at('London', 'GB'),
  });
  const receipt = put('feed', 'kestrel-adr', 'KES@XNYS', {
    name: 'Kestrel Mining plc',
    stock: { isin: 'US0378331005' },
    ...at('', 'GB'),
  });
  const classB = put('filings', 'kestrel-b', 'KES-B@XLON', {
    name: 'KESTREL MNG PLC',
    links: { websites: ['http://www.kestrel.com'] },
    stock: { isin: 'GB00B03MLX29' },
  });
  expect(companiesOf(shell, receipt, classB)).toEqual([
    ['feed/kestrel-adr', 'filings/kestrel-b', 'sample/kestrel'],
  ]);
});

const listed = (id: string, facts: Facts = {}) =>
  put('feed', id, `${id}@XNAS`, { name: 'Kestrel Corp', ...at('', 'US'), ...facts });
const abroad = (id: string, facts: Facts = {}) =>
  put('filings', id, `${id}@XBER`, { name: 'Kestrel Corporation', ...at('Boston', 'US'), ...facts });

const row = (id: string, ticker: string, facts: Facts) => put('financedatabase', id, ticker, facts);

test('a plc in New York is the British or Irish company of that name', () => {
  const facts = { name: 'Kestrel Controls plc' };
  const abroad = row('tyia', 'TYIA@XETR', { ...facts, ...at('Cork', 'IE') });
  expect(companiesOf(put('feed', 'jci', 'JCI@XNYS', facts), abroad)).toEqual([
    ['feed/jci', 'financedatabase/tyia'],
  ]);
  const german = row('tyia', 'TYIA@XETR', { ...facts, ...at('Bonn', 'DE') });
  expect(companiesOf(put('feed', 'jci', 'JCI@XNYS', facts), german)).toHaveLength(2);
});

test('"Inc." and an American ISIN make a listing abroad the American one of that name, unless the name is short', () => {
  const listing = (name: string) => {
    const listings = [{ ticker: '788', mic: 'XBER', isin: 'US22266T1097' }];
    return row('788', '788@XBER', { name, ...at('', 'KR'), listings });
  };
  const coupang = put('feed', 'cpng', 'CPNG@XNYS', { name: 'Coupang, Inc.' });
  expect(companiesOf(coupang, listing('Coupang Inc.'))).toEqual([['feed/cpng', 'financedatabase/788']]);
  expect(
    companiesOf(put('feed', 'orion', 'ORN@XNYS', { name: 'Orion Corp' }), listing('Orion Corp')),
  ).toHaveLength(2);
});

test('listings of one security are one company’s if one is delisted under its name and the other is not', () => {
  const figi = { figi: 'BBG000MM90N1', compositeFigi: 'BBG000MM8ZX4' };
  const paris = (name: string, ticker: string, isActivelyTrading: boolean) =>
    row(ticker, ticker, {
      name,
      ...at('', 'FR'),
      listings: [{ ticker, mic: 'XPAR', ...figi }],
      stock: { isActivelyTrading },
    });
  const emeis = paris('Emeis SA', 'EMEIS', true);
  expect(companiesOf(emeis, paris('Orpea SA', 'ORP', false))).toHaveLength(1);
  expect(companiesOf(emeis, paris('Orpea SA', 'ORP', true))).toHaveLength(2);
});

test('a legal form is no contradiction if a record of the company has both', () => {
  const facts = at('Miami', 'US');
  const corporation = put('feed', 'ccl', 'CCL@XNYS', { name: 'Carnival Corporation', ...facts });
  const both = row('ccl', 'CCL@XLON', { name: 'Carnival Corporation & plc', ...facts });
  const plc = row('poh3', 'POH3@XBER', { name: 'Carnival plc', ...at('', 'US') });
  expect(companiesOf(corporation, both, plc)).toEqual([
    ['feed/ccl', 'financedatabase/ccl', 'financedatabase/poh3'],
  ]);
  expect(companiesOf(corporation, plc)).toHaveLength(2);
});

test('a listing without a country joins no two companies of its name that are listed at home in two countries', () => {
  const tokyo = row('4480', '4480@XTKS', { name: 'Medley, Inc.', ...at('Tokyo', 'JP') });
  const newYork = row('mdly', 'MDLY@XNYS', { name: 'Medley Inc.', ...at('', 'US') });
  const berlin = row('m5x', 'M5X@XBER', { name: 'Medley Inc.' });
  expect(companiesOf(tokyo, newYork, berlin)).toHaveLength(3);
});

test('"Group" at home in one country is not "Holdings" of another, however long the name', () => {
  const sydney = (name: string) => row('wow', 'WOW@XASX', { name, ...at('', 'AU') });
  const berlin = (country: string) =>
    row('wn3', 'WN3@XBER', {
      name: 'WOOLWORTHS H. NEW O.N.',
      names: ['Woolworths Holdings Limited'],
      ...at('', country),
    });
  expect(companiesOf(sydney('Woolworths Group Ltd'), berlin('ZA'))).toHaveLength(2);
  expect(companiesOf(sydney('Woolworths Group Ltd'), berlin('AU'))).toHaveLength(1);
  expect(companiesOf(sydney('Woolworths Holdings Ltd'), berlin('ZA'))).toHaveLength(1);
});

test('an abbreviated name is that of the company in full', () => {
  const listed = put('feed', 'uthr', 'UTHR@XNAS', {
    name: 'United Therapeutics Corporation',
    ...at('', 'US'),
  });
  expect(companiesOf(listed, row('uth', 'UTH@XBER', { name: 'UTD THERAP.', ...at('', 'US') }))).toHaveLength(
    1,
  );
});

test('a "+" between words is "&" in names too', () => {
  expect(
    companiesOf(
      row('0qmw', '0QMW@XLON', { name: 'Kuehne + Nagel International AG', ...at('', 'CH') }),
      row('kniu', 'KNIU@XBER', { name: 'Kuehne & Nagel International AG', ...at('', 'CH') }),
    ),
  ).toHaveLength(1);
});

test('two sources’ only records of one name and country are one company', () => {
  expect(companiesOf(listed('KES'), abroad('KE1'))).toEqual([['feed/KES', 'filings/KE1']]);
});

test('a row with a company’s name and country joins the company, and a product of that name does not', () => {
  const inJapan = { company: { headquarters: { countryCode: 'JP' } } };
  const listed = put('list', 'kubota', '6326@XTKS', { name: 'Kubota Corporation', ...inJapan });
  const row = (name: string) => put('table', 'row', '', { name, listings: [], ...inJapan });
  expect(companiesOf(listed, row('Kubota Corp.'))).toEqual([['list/kubota', 'table/row']]);
  expect(companiesOf(listed, row('Kubota'))).toEqual([['list/kubota'], ['table/row']]);
  expect(companiesOf(listed, row('Kubota GmbH'))).toEqual([['list/kubota'], ['table/row']]);
});

test('a second record of the name in one of the sources separates them, and joins them again when it goes', () => {
  const apart = [['feed/KES'], ['filings/KE1'], ['filings/KE2']];
  expect(companiesOf(listed('KES'), abroad('KE1'), abroad('KE2'))).toEqual(apart);
  const catalogue = new Catalogue().put(listed('KES')).put(abroad('KE1'), abroad('KE2'));
  expect(catalogue.remove('filings/KE2').companies()).toEqual([['feed/KES', 'filings/KE1']]);
  expect(catalogue.put(abroad('KE2')).companies()).toEqual(apart);
});

test('a name that more than 16 records have links nothing, and links again when they are fewer', () => {
  const others = Array.from({ length: 15 }, (_, index) =>
    put(`list-${index}`, `k${index}`, `X${index}@XBER`, {
      name: 'Kestrel Inc.',
      ...at('', 'US'),
      stock: { isin: `US${String(index * 10).padStart(10, '0')}` },
    }),
  );
  const catalogue = new Catalogue().put(listed('KES')).put(abroad('KE1'));
  expect(catalogue.companies()).toHaveLength(1);
  for (const other of others) catalogue.put(other);
  expect(catalogue.companies()).toHaveLength(17);
  catalogue.remove('list-0/k0');
  expect(catalogue.companies()).toContainEqual(expect.arrayContaining(['feed/KES', 'filings/KE1']));
});

test('each refused link is reported with its identifiers and its reason', () => {
  const catalogue = new Catalogue().put(snap);
  expect(catalogue.put(ups, snapAbroad).refusedLinks).toEqual([
    {
      reference: 'filings/ups',
      identifiers: ['US83304A1060', '83304A106'],
      otherSource: 'sample',
      otherRecordId: 'snap',
      otherId: 'snap',
      otherName: 'Snap',
      reason: 'the websites differ: ups.com and snap.com',
    },
  ]);
  expect(catalogue.put(abroad('KE1'), abroad('KE2')).put(listed('KES')).refusedLinks).toMatchObject([
    { reference: 'feed/KES', otherRecordId: 'KE1', reason: expect.stringContaining('several records') },
    { reference: 'feed/KES', otherRecordId: 'KE2', reason: expect.stringContaining('several records') },
  ]);
});
