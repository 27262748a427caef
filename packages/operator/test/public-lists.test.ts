import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { zipOf } from '@brand-data/importers/test/zip-of.ts';
import { startTestStack, type TestStack } from '@brand-data/test/stack/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runBds } from './run-bds.ts';

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-data-public-lists-'));
  stack = await startTestStack({ gateways: 0 });
});

afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A second file of the first recipe. */
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

/** Each file of the page with a few rows, as its publisher writes them, and what an import of them is expected to do. */
const LISTS = [
  {
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
    file: 'nasdaqtraded.txt',
    text: [
      'Nasdaq Traded|Symbol|Security Name|Listing Exchange|Market Category|ETF|Round Lot Size|Test Issue|Financial Status|CQS Symbol|NASDAQ Symbol|NextShares',
      'Y|OSPR|Osprey Works, Inc. Common Stock|N| |N|100|N||OSPR|OSPR|N',
      'Y|OSPR$B|Osprey Works, Inc. 5.25% Series B|N| |N|100|N||OSPRpB|OSPR-B|N',
      'Y|OSPX|Osprey Silver|P| |Y|100|N||OSPX|OSPX|N',
      'Y|QTEST|Osprey Test One|N| |N|100|Y||QTEST|QTEST|N',
      'File Creation Time: 1102202321:31|||||||||||',
    ].join('\n'),
    expected: { created: 4, skipped: 1, refused: 0 },
    shows: ['xnys-ospr', { listings: [{ ticker: 'OSPR', mic: 'XNYS' }] }],
  },
  {
    file: 'nasdaq-listed-symbols.csv',
    text: [
      'Symbol,Company Name,Security Name,Market Category,Test Issue,Financial Status,Round Lot Size,ETF,NextShares',
      'MRLN,Merlin Foods Inc.,Merlin Foods Inc. - Class A Ordinary Shares,G,N,N,100,N,N',
      'MRLNU,Merlin Foods Inc.,Merlin Foods Inc. - Units,G,N,N,100,N,N',
      ',,,,,,,,',
      'File Creation Time: 0731202621:31,,,,,,,,',
    ].join('\n'),
    expected: { created: 2, skipped: 1, refused: 0 },
    shows: ['xnas-mrln', { listings: [{ ticker: 'MRLN', mic: 'XNAS' }] }],
  },
  {
    file: '20240505-0000-gleif-goldencopy-lei2-golden-copy.json.zip',
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
    file: 'FinanceDatabase/PRA.csv',
    text: [
      'symbol,name,summary,currency,sector,industry_group,industry,exchange,mic,market,country,state,city,zipcode,website,market_cap,isin,cusip,figi,composite_figi,shareclass_figi,delisted',
      'JSTR.PR,Jestrab a.s.,,CZK,Industrials,,,PRA,XPRA,Prague Stock Exchange,Czech Republic,,,,,,,,,,,False',
    ].join('\n'),
    expected: { created: 1, refused: 0 },
    shows: ['JSTR.PR', { listings: [{ ticker: 'JSTR', mic: 'XPRA' }] }],
  },
  {
    file: 'customers.csv',
    text: 'company,country\nKestrel Corporation,United States\nJestrab,Czech Republic\n',
    expected: { refused: 0 },
    shows: undefined,
  },
] as const;

async function commandsOfPage(): Promise<string[][]> {
  const page = await readFile(join(import.meta.dirname, '../public-lists.md'), 'utf8');
  const commands = [...page.matchAll(/^bds (import (?:[^\n]*\\\n)*[^\n]*)/gm)].map(
    ([, command = '']) => command,
  );
  // Icons come from packages, and not from a file.
  return commands
    .filter((command) => !/^import (?:simple-icons|iconify)/.test(command))
    .map((command) =>
      execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
        .trimEnd()
        .split('\n'),
    );
}

test('each recipe imports its list without a refusal, and prunes nothing when it is run again', async () => {
  const commands = await commandsOfPage();
  await writeFile(
    join(folder, 'submissions.zip'),
    zipOf({ 'CIK0000000901.json': JSON.stringify(SUBMISSION) }),
  );
  expect(commands).toHaveLength(LISTS.length);
  for (const [index, { file, text, expected, shows }] of LISTS.entries()) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
    const command = commands[index] ?? [];
    expect(command[2]).toBe(file.replace('PRA.csv', ''));
    const first = await runBds(stack, folder, [...command, '--json']);
    expect(first, file).toMatchObject({ code: 0 });
    expect(JSON.parse(first.out), file).toMatchObject(expected);
    const again = await runBds(stack, folder, [...command, '--prune', '--json']);
    expect(JSON.parse(again.out), file).toMatchObject({ created: 0, changed: 0, refused: 0, pruned: 0 });
    if (shows === undefined) continue;
    const [identifier, record] = shows;
    const id = await idOf(identifier);
    const { out } = await runBds(stack, folder, ['show', id, '--json']);
    expect(JSON.parse(out).record, file).toMatchObject(record);
  }
});

/** Returns the id of the record that an identifier means, or else the identifier, which then is an id. */
async function idOf(identifier: string): Promise<string> {
  const { out } = await runBds(stack, folder, ['resolve', identifier, '--json']);
  return JSON.parse(out).meaning?.id ?? identifier;
}
