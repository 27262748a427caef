import { createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { PutRefusedLink } from '@brand-data/catalog/src/linkage/refused-links.ts';
import { recordFromBytes } from '@brand-data/catalog/src/records/merge.ts';
import { compareOrders } from './compare-orders.ts';
import {
  americanTwins,
  type Cluster,
  clustersOf,
  contradictoryCompanies,
  drawn,
  someJoins,
} from './linkage.ts';
import { MemoryCatalogue } from './memory-catalogue.ts';
import { readInputs, scoreInputs } from './score-inputs.ts';
import {
  countMonograms,
  financeDatabase,
  gleif,
  iconify,
  nasdaqList,
  nasdaqListed,
  nasdaqTraded,
  type QualitySource,
  sample,
  sec,
  simpleIcons,
  sp500,
} from './sources.ts';

const ORDER =
  'financedatabase,sec,nasdaq-trader,nasdaq-listed,nasdaq,sp500,gleif,sample,simple-icons,iconify';

export const USAGE = `Usage: npm run quality -- --data FOLDER [--order financedatabase,nasdaq,…] [--compare ORDER] [--split] [--out FOLDER] [--resolve FILE] [--inputs FILE]

Imports real data into a catalogue in memory, in the given order, and reports what became of it.
  --data FOLDER    has the folders that README.md lists
  --order NAMES    the sources to import, in order (default: ${ORDER})
  --compare ORDER  import into a second catalogue, in this order, and print the first differences
  --split          import the folders of FinanceDatabase one after the other into the second catalogue
  --out FOLDER     write what is listed in README.md into this folder
  --resolve FILE   print what each line of the file resolves to
  --inputs FILE    compare the answers to the file's inputs with its expectations: inputs.txt describes its lines`;

/** The folders of FinanceDatabase's files. */
const FINANCE_DATABASE = ['financedatabase', 'financedatabase-home', 'financedatabase-more'];

/** How many joins and refused links are drawn, to be judged by hand. */
const DRAWN = 100;

export const OPTIONS = {
  data: { type: 'string' },
  order: { type: 'string', default: ORDER },
  compare: { type: 'string' },
  split: { type: 'boolean' },
  out: { type: 'string' },
  resolve: { type: 'string' },
  inputs: { type: 'string' },
} as const;

export async function run(values: Record<string, string | undefined>): Promise<void> {
  const { data, order = '' } = values;
  if (data === undefined) {
    console.log(USAGE);
    process.exit(2);
  }
  const known = sourcesIn(data);
  const inputs = values.inputs === undefined ? [] : await readInputs(values.inputs);
  const { records, monograms } = await countMonograms();
  const share = ((100 * monograms) / records).toFixed(1);
  console.log(`the sample has ${records} records, of which ${monograms} show a monogram (${share} %)`);
  const { catalogue, conflicts, refused, refusedLinks } = await importAll(known, order);
  const clusters = clustersOf(catalogue);
  const joined = clusters.filter(({ doc }) => doc.contributions.length > 1).length;
  console.log(`${clusters.length} companies, ${joined} of several sources`);
  const { companies, twins } = americanTwins(clusters);
  const contradictory = contradictoryCompanies(clusters);
  const byName = twins.filter(({ shared }) => shared.some((key) => key.startsWith('name:'))).length;
  console.log(
    `${companies} companies on American exchanges, ${byName} with the name of another, ${twins.length - byName} with only its listing`,
  );
  console.log(`${contradictory.length} companies with records that contradict each other`);
  const ofPair = ({ reference, otherSource, otherRecordId }: PutRefusedLink) =>
    `${reference} ${otherSource}/${otherRecordId}`;
  const lists: Record<string, Iterable<object>> = {
    companies: companiesOf(clusters),
    conflicts,
    refused,
    'refused-links': refusedLinks,
    'some-refused-links': drawn(refusedLinks, DRAWN, ofPair),
    'some-joins': someJoins(clusters, DRAWN),
    contradictory,
    twins,
  };
  const { out } = values;
  if (out !== undefined) {
    await mkdir(out, { recursive: true });
    for (const [name, items] of Object.entries(lists)) {
      const file = createWriteStream(join(out, `${name}.ndjson`));
      for (const item of items) file.write(`${JSON.stringify(item)}\n`);
      file.end();
      await finished(file);
    }
  }
  if (values.inputs !== undefined) await scoreInputs(catalogue, inputs);
  const { split, compare = split && order } = values;
  if (compare !== undefined) {
    const parts = FINANCE_DATABASE.map((folder) => `folder:${folder}`).join();
    const other = await importAll(known, split ? compare.replace('financedatabase', parts) : compare);
    compareOrders(
      catalogue,
      other.catalogue,
      inputs.map(({ input }) => input),
    );
  }
  if (values.resolve !== undefined) {
    const identifiers = (await readFile(values.resolve, 'utf8')).split('\n').filter((line) => line !== '');
    for (const identifier of identifiers) {
      const [meant] = catalogue.resolve(identifier);
      console.log(`${identifier}\t${meant === undefined ? '-' : `${meant.brand.id}\t${meant.brand.name}`}`);
    }
  }
}

/** Imports the sources in this order into a new catalogue, and prints what became of each one. */
async function importAll(known: ReadonlyMap<string, QualitySource>, order: string) {
  const catalogue = new MemoryCatalogue();
  const conflicts: object[] = [];
  const refused: object[] = [];
  const refusedLinks: PutRefusedLink[] = [];
  for (const name of order.split(',')) {
    const source = known.get(name);
    if (source === undefined) throw new Error(`there is no source "${name}": there are ${[...known.keys()]}`);
    const began = performance.now();
    const report = await catalogue.put(source.source, source.read());
    const { created, changed, unchanged } = report;
    conflicts.push(...report.conflicts);
    refusedLinks.push(...report.refusedLinks);
    refused.push(...report.refused.map((each) => ({ source: source.source, ...each })));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(
      `${name.padEnd(16)} created ${created}, joined or changed ${changed}, unchanged ${unchanged}, refused ${report.refused.length}, conflicts ${report.conflicts.length}, ${seconds} s`,
    );
  }
  return { catalogue, conflicts, refused, refusedLinks };
}

function sourcesIn(data: string): ReadonlyMap<string, QualitySource> {
  return new Map([
    ['financedatabase', financeDatabase(FINANCE_DATABASE.map((folder) => join(data, folder)))],
    ...FINANCE_DATABASE.map((folder) => [`folder:${folder}`, financeDatabase([join(data, folder)])] as const),
    ['sec', sec(join(data, 'sec/company_tickers_exchange.json'))],
    ['nasdaq-trader', nasdaqTraded(join(data, 'nasdaq-trader/nasdaqtraded.txt'))],
    ['nasdaq-listed', nasdaqListed(join(data, 'nasdaq-trader/nasdaq-listed-symbols.csv'))],
    ['nasdaq', nasdaqList(join(data, 'us-listings/nasdaq-2026-08-21.csv'))],
    ['sp500', sp500(join(data, 'sp500/constituents.csv'), join(data, 'sp500/prices-2026-08-21.csv'))],
    ['gleif', gleif(join(data, 'gleif/20240505-0000-gleif-goldencopy-lei2-intra-day.json'))],
    ['sample', sample],
    ['simple-icons', simpleIcons],
    ['iconify', iconify],
  ]);
}

/** Yields each company with its source records. */
function* companiesOf(clusters: readonly Cluster[]): Generator<object> {
  for (const { doc, records } of clusters) {
    const { name, type, rank } = recordFromBytes(doc.brand);
    const members = records.map(({ source, id, brand }) => ({
      source,
      id,
      name: brand.name,
      country: brand.company?.headquarters?.countryCode,
      city: brand.company?.headquarters?.city,
      websites: brand.links?.websites,
      listings: brand.listings.map(({ mic, ticker, isin }) => [`${mic}:${ticker}`, isin].join(' ').trim()),
      formerly: brand.history?.formerly,
    }));
    yield { id: doc._id, name, type, rank, members };
  }
}
