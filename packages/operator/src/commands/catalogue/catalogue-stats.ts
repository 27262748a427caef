import { BrandType, ListBrandsRequest, type SourceStatistics } from '@brand-data/contracts';
import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../terminal/context.ts';
import { duration, figure } from '../../text/reports.ts';
import { facts, table } from '../../text/tables.ts';
import { wordOf } from '../../text/words.ts';
import { readFields, STATISTICS_MS } from './catalogue-list.ts';

/** The fields that operators look for in an import. */
const FIELDS = [
  'images.logo',
  'description',
  'links.websites',
  'company.headquarters',
  'company.industry',
  'company.ceo',
  'company.employees',
  'links.wikipedia',
  'stock.price',
  'stock.market_cap_usd',
];
/** Only listed companies have these fields. */
const OF_STOCKS = /^(?:stock|listings)\b/;

export function catalogueStatsCommand({ catalog, output }: Context) {
  return new Command('stats')
    .description(
      'Count the records by type and source, the share that has each of some fields, their sizes, and the age of imports and of the facts',
    )
    .option(
      '--field <field,…>',
      'count records with these fields instead; bds set --help lists them',
      readFields,
    )
    .action(async ({ field: fields }) => {
      const statistics = await count({ catalog, output }, fields);
      output.answer(statistics, () => statsText(statistics));
    });
}

/** Returns the figures of the catalogue, as the command prints them with --json. */
async function count({ catalog, output }: Pick<Context, 'catalog' | 'output'>, fields: string[] = FIELDS) {
  const { sources, otherSecurities } = await catalog().call(
    (client) => client.getStatistics,
    {},
    STATISTICS_MS,
  );
  const types: Record<string, number> = {};
  const has = fields.map(() => 0);
  const bytes = { all: 0, mean: 0, largest: { id: '', bytes: 0 } };
  let records = 0;
  const request = ListBrandsRequest.fromPartial({ fields });
  for await (const { brands } of catalog().readStream((client) => client.listBrands, request)) {
    for (const { id, type, has: present, bytes: size } of brands) {
      records++;
      bytes.all += size;
      const word = wordOf(BrandType, type);
      types[word] = (types[word] ?? 0) + 1;
      for (const index of present) has[index] = (has[index] ?? 0) + 1;
      if (size > bytes.largest.bytes) bytes.largest = { id, bytes: size };
    }
    output.progress(() => `${figure(records)} records counted`);
  }
  output.progress();
  if (records > 0) bytes.mean = Math.round(bytes.all / records);
  return {
    records,
    types,
    // Those are not among the records.
    other_securities: otherSecurities,
    sources: sources.map((source) => sourceToJson(source, Date.now())),
    // Only stocks can have data in a field of market data.
    fields: fields.map((field, index) => {
      const of = OF_STOCKS.test(field) ? (types.stock ?? 0) : records;
      return { field, has: has[index] ?? 0, of };
    }),
    bytes,
  };
}

/** Import ids of bds begin with the time at which the import began. The age is null for the ids of other programs. */
function sourceToJson(
  { source, brands, newestImport, factAges, newestPrice }: SourceStatistics,
  nowMs: number,
) {
  const importedMs = Date.parse(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z/.exec(newestImport)?.[0] ?? '');
  const age = Number.isNaN(importedMs) ? null : Math.round((nowMs - importedMs) / 1_000);
  const facts = factAges.map(({ fields, records, undated, newest, median }) => {
    return { fields: fields || 'other', records, undated, newest: newest || null, median: median || null };
  });
  return {
    source,
    records: brands,
    newest_import: newestImport || null,
    age_seconds: age,
    newest_price: newestPrice || null,
    facts,
  };
}

type Statistics = Awaited<ReturnType<typeof count>>;

function statsText({ records, types, other_securities, sources, fields, bytes }: Statistics): string {
  if (records === 0) return 'The catalogue has no records.';
  const { all, mean, largest } = bytes;
  return [
    facts([
      ['Records', figure(records)],
      ...Object.entries(types).map(([name, count]) => [`  ${name}`, figure(count)] as const),
      ...(other_securities > 0 ? [['Other securities', figure(other_securities)] as const] : []),
      ['Size', `${figure(Math.ceil(all / 1024))} KiB, ${figure(mean)} bytes a record`],
      ['Largest', `${largest.id}, ${figure(largest.bytes)} bytes`],
    ]),
    table(
      ['SOURCE', 'RECORDS', 'NEWEST IMPORT'],
      sources.map(({ source, records: count, age_seconds: age }) => {
        return [source, count, age === null ? 'not known' : `${duration(age)} ago`];
      }),
    ),
    table(
      ['SOURCE', 'FACTS', 'NEWEST', 'MEDIAN', 'WITHOUT A DAY'],
      sources.flatMap(({ source, facts: ages }) =>
        ages.map(({ fields: of, newest, median, undated, records: all }) => {
          const share = `${Math.round((100 * undated) / all)} %`;
          return [source, of, newest ?? 'not known', median ?? 'not known', share];
        }),
      ),
    ),
    table(
      ['FIELD', 'RECORDS', 'OF', 'SHARE'],
      fields.map(({ field, has, of }) => {
        return [field, has, of, of === 0 ? '' : `${((100 * has) / of).toFixed(1)} %`];
      }),
    ),
  ].join('\n\n');
}
