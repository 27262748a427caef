import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { zipOf } from '@brand-data/importers/test/zip-of.ts';
import { startTestStack, type TestStack } from '@brand-data/test/stack/index.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { runBds } from './run-bds.ts';

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 0 });
});

afterAll(() => stack?.stop());

/** A second file of the source `sec`. */
const SUBMISSION = {
  cik: '0000000901',
  sic: '3420',
  sicDescription: 'Cutlery, Handtools & General Hardware',
  name: 'Kestrel Corp',
  tickers: ['KSTL'],
  exchanges: ['Nasdaq'],
  formerNames: [],
  filings: {},
};

const RELATIONSHIPS =
  'Relationship.StartNode.NodeID,Relationship.EndNode.NodeID,Relationship.RelationshipType,Relationship.RelationshipStatus\n';

/** A file of each source with a few rows, as its publisher writes them, and what an import of them is expected to do. */
const LISTS = [
  {
    source: 'sec',
    file: 'company_tickers_exchange.json',
    text: JSON.stringify({
      fields: ['cik', 'name', 'ticker', 'exchange'],
      data: [
        [901, 'Kestrel Corp', 'KSTL', 'Nasdaq'],
        [901, 'Kestrel Corp', 'KSTLB', 'Nasdaq'],
        [901, 'Kestrel Corp', 'KSTLW', 'Nasdaq'],
        [902, 'Shell of a Company Inc.', 'SHLO', null],
      ],
    }),
    expected: { created: 2, refused: 0, left_out: { 'filers that no exchange lists': 1 } },
    shows: [
      'cik-901',
      {
        company: { industry: 'Cutlery, Handtools & General Hardware' },
        listings: [
          { ticker: 'KSTL', mic: 'XNAS' },
          { ticker: 'KSTLB', mic: 'XNAS' },
        ],
      },
    ],
  },
  {
    source: 'nasdaq-traded',
    file: 'nasdaqtraded.txt',
    text: [
      'Nasdaq Traded|Symbol|Security Name|Listing Exchange|Market Category|ETF|Round Lot Size|Test Issue|Financial Status|CQS Symbol|NASDAQ Symbol|NextShares',
      'Y|OSPR|Osprey Works, Inc. Common Stock|N| |N|100|N||OSPR|OSPR|N',
      'Y|KITE|Kite Kilns, Inc. Common Stock|A| |N|100|N||KITE|KITE|N',
      'Y|OSPR$B|Osprey Works, Inc. 5.25% Series B|N| |N|100|N||OSPRpB|OSPR-B|N',
      'Y|OSPX|Osprey Silver|P| |Y|100|N||OSPX|OSPX|N',
      'Y|QTEST|Osprey Test One|N| |N|100|Y||QTEST|QTEST|N',
      'File Creation Time: 1102202321:31|||||||||||',
    ].join('\n'),
    expected: { created: 5, skipped: 1, refused: 0 },
    shows: ['xnys-ospr', { listings: [{ ticker: 'OSPR', mic: 'XNYS' }], stock: { currency: 'USD' } }],
  },
  {
    source: 'nasdaq-listed',
    file: 'nasdaq-listed-symbols.csv',
    text: [
      'Symbol,Company Name,Security Name,Market Category,Test Issue,Financial Status,Round Lot Size,ETF,NextShares',
      'MRLN,Merlin Foods Inc.,Merlin Foods Inc. - Class A Ordinary Shares,G,N,N,100,N,N',
      'MRLNU,Merlin Foods Inc.,Merlin Foods Inc. - Units,G,N,N,100,N,N',
      ',,,,,,,,',
      'File Creation Time: 0731202621:31,,,,,,,,',
    ].join('\n'),
    expected: { created: 2, skipped: 1, refused: 0 },
    shows: ['xnas-mrln', { listings: [{ ticker: 'MRLN', mic: 'XNAS' }], stock: { currency: 'USD' } }],
  },
  {
    source: 'gleif',
    file: 'lei2.csv.zip',
    text: zipOf({
      'lei2-golden-copy.json': JSON.stringify({
        records: ['Kestrel Corporation', 'Unknown Kites LLC'].map((name, index) => ({
          LEI: { $: index === 0 ? '529900T8BM49AURSDO55' : '549300MLUDYVRQOOXS22' },
          Entity: {
            LegalName: { '@xml:lang': 'en', $: name },
            HeadquartersAddress: { City: { $: 'Boston' }, Country: { $: 'US' } },
            EntityCategory: { $: 'GENERAL' },
            EntityStatus: { $: 'ACTIVE' },
          },
        })),
      }),
    }),
    expected: { created: 0, changed: 1, skipped: 1, refused: 0 },
    shows: ['cik-901', { lei: '529900T8BM49AURSDO55', company: { headquarters: { city: 'Boston' } } }],
  },
  {
    source: 'financedatabase',
    file: 'equities/PRA.csv',
    text: [
      'symbol,name,summary,currency,sector,industry_group,industry,exchange,mic,market,country,state,city,zipcode,website,market_cap,isin,cusip,figi,composite_figi,shareclass_figi,delisted',
      'JSTR.PR,Jestrab a.s.,,CZK,Industrials,,,PRA,XPRA,Prague Stock Exchange,Czech Republic,,,,,,,,,,,False',
    ].join('\n'),
    expected: { created: 1, refused: 0 },
    shows: ['JSTR.PR', { listings: [{ ticker: 'JSTR', mic: 'XPRA' }] }],
  },
  {
    source: 'sp500',
    file: 'constituents.csv',
    text: [
      'Symbol,Security,GICS Sector,GICS Sub-Industry,Headquarters Location,Date added,CIK,Founded',
      'KITE,Kite Kilns,Industrials,Building Products,"Saint Paul, Minnesota",1957-03-04,0000000904,1902',
    ].join('\n'),
    expected: { created: 0, changed: 1, refused: 0 },
    shows: [
      'KITE',
      {
        company: { industry: 'Building Products', founded: '1902' },
        listings: [{ ticker: 'KITE', mic: 'XASE' }],
      },
    ],
  },
  {
    source: 'wikidata',
    file: 'latest-all.json.gz',
    text: '[\n]\n',
    expected: { created: 0, refused: 0 },
    shows: undefined,
  },
] as const;

/** Writes the ready file with local files in place of the publishers'. Icons come from packages, which other tests import. */
async function declareLocally(): Promise<string[]> {
  const ready = parse(await readFile(join(import.meta.dirname, '../public-lists.yaml'), 'utf8'));
  const sources: { name: string; files?: { from: string; as?: string }[] }[] = ready.sources;
  const local = sources.flatMap(({ files = [], ...source }) => {
    const named = files.map(({ from, as = basename(from) }) => ({ from: join('lists', as), as }));
    return named.length === 0 ? [] : [{ ...source, files: named }];
  });
  await writeFile(join(folder, 'sources.yaml'), stringify({ ...ready, sources: local }));
  return local.map(({ name }) => name);
}

test('each source of the ready file is imported without a refusal, and nothing is pruned when it is imported again', async () => {
  const names = await declareLocally();
  expect(names.toSorted()).toEqual(LISTS.map(({ source }) => source).toSorted());
  const files = [
    ...LISTS,
    { file: 'submissions.zip', text: zipOf({ 'CIK0000000901.json': JSON.stringify(SUBMISSION) }) },
    { file: 'rr.csv.zip', text: zipOf({ 'rr.csv': RELATIONSHIPS }) },
  ];
  for (const { file, text } of files) {
    await mkdir(dirname(join(folder, 'lists', file)), { recursive: true });
    await writeFile(join(folder, 'lists', file), text);
  }
  for (const name of names) {
    const { expected, shows } = LISTS.find(({ source }) => source === name) ?? {};
    const first = await runBds(stack, folder, ['sync', name, '--json']);
    expect(first, first.out + first.errors).toMatchObject({ code: 0 });
    expect(JSON.parse(first.out).sources[0].import, name).toMatchObject(expected ?? {});
    const again = await runBds(stack, folder, ['sync', name, '--now', '--json']);
    const nothing = { created: 0, changed: 0, refused: 0 };
    expect(JSON.parse(again.out).sources[0], name).toMatchObject({ outcome: 'imported', import: nothing });
    if (shows === undefined) continue;
    const [identifier, record] = shows;
    const { out, errors } = await runBds(stack, folder, ['show', await idOf(identifier), '--json']);
    expect(errors, `${name}: ${first.out}`).toBe('');
    expect(JSON.parse(out).record, name).toMatchObject(record);
  }
});

/** Returns the id of the record that an identifier means, or else the identifier, which then is an id. */
async function idOf(identifier: string): Promise<string> {
  const { out } = await runBds(stack, folder, ['resolve', identifier, '--json']);
  return JSON.parse(out).meaning?.id ?? identifier;
}
