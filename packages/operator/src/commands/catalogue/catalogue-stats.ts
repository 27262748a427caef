import type { SourceStatistics } from '@brand-data/contracts';
import { Command } from 'commander';
import type { Context } from '../../terminal/context.ts';
import { duration, figure } from '../../text/progress.ts';
import { facts, table } from '../../text/tables.ts';
import { readFields } from './catalogue-list.ts';
import { brandPages, typeName } from './listed-brands.ts';

const STATISTICS_MS = 60_000;
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

interface Counts {
  records: number;
  types: Map<string, number>;
  has: number[];
  bytes: number;
  largest: { id: string; bytes: number };
}

export function catalogueStatsCommand({ catalog, output }: Context): Command {
  return new Command('stats')
    .description(
      'Count the records by type and source, the share that has each of some fields, their sizes, and the age of imports',
    )
    .option(
      '--field <field,…>',
      'count records with these fields instead; bds set --help lists them',
      readFields,
    )
    .action(async ({ field: fields = FIELDS }: { field?: string[] }) => {
      const { sources } = await catalog().call((client) => client.getStatistics, {}, STATISTICS_MS);
      const counts: Counts = {
        records: 0,
        types: new Map(),
        has: fields.map(() => 0),
        bytes: 0,
        largest: { id: '', bytes: 0 },
      };
      for await (const brands of brandPages(catalog(), { fields })) {
        for (const { id, type, has, bytes } of brands) {
          counts.records++;
          counts.bytes += bytes;
          const name = typeName(type);
          counts.types.set(name, (counts.types.get(name) ?? 0) + 1);
          for (const index of has) counts.has[index] = (counts.has[index] ?? 0) + 1;
          if (bytes > counts.largest.bytes) counts.largest = { id, bytes };
        }
        output.progress(() => `${figure(counts.records)} records counted`);
      }
      output.progress();
      const nowMs = Date.now();
      output.answer(statsToJson(fields, counts, sources, nowMs), () =>
        statsText(fields, counts, sources, nowMs),
      );
    });
}

/** How many records could have data in a field. */
function couldHave(field: string, { records, types }: Counts): number {
  return OF_STOCKS.test(field) ? (types.get('stock') ?? 0) : records;
}

/** Import ids of bds begin with the time at which the import began. Undefined for those of other programs. */
function timeOfImport({ newestImport }: SourceStatistics): number | undefined {
  const ms = Date.parse(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z/.exec(newestImport)?.[0] ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

function statsToJson(
  fields: readonly string[],
  counts: Counts,
  sources: readonly SourceStatistics[],
  nowMs: number,
) {
  const { records, types, bytes, largest } = counts;
  return {
    records,
    types: Object.fromEntries(types),
    sources: sources.map((source) => {
      const importedMs = timeOfImport(source);
      return {
        source: source.source,
        records: source.brands,
        newest_import: source.newestImport || null,
        age_seconds: importedMs === undefined ? null : Math.round((nowMs - importedMs) / 1_000),
      };
    }),
    fields: fields.map((field, index) => {
      return { field, has: counts.has[index] ?? 0, of: couldHave(field, counts) };
    }),
    bytes: { all: bytes, mean: records === 0 ? 0 : Math.round(bytes / records), largest },
  };
}

function statsText(
  fields: readonly string[],
  counts: Counts,
  sources: readonly SourceStatistics[],
  nowMs: number,
): string {
  const { records, types, bytes, largest } = counts;
  if (records === 0) return 'The catalogue has no records.';
  return [
    facts([
      ['Records', figure(records)],
      ...[...types].map(([name, count]) => [`  ${name}`, figure(count)] as const),
      [
        'Size',
        `${figure(Math.ceil(bytes / 1024))} KiB, ${figure(Math.round(bytes / records))} bytes a record`,
      ],
      ['Largest', `${largest.id}, ${figure(largest.bytes)} bytes`],
    ]),
    '',
    table(
      ['SOURCE', 'RECORDS', 'NEWEST IMPORT'],
      sources.map((source) => {
        const importedMs = timeOfImport(source);
        const age = importedMs === undefined ? 'not known' : `${duration((nowMs - importedMs) / 1_000)} ago`;
        return [source.source, source.brands, age];
      }),
    ),
    '',
    table(
      ['FIELD', 'RECORDS', 'OF', 'SHARE'],
      fields.map((field, index) => {
        const has = counts.has[index] ?? 0;
        const all = couldHave(field, counts);
        return [field, has, all, all === 0 ? '' : `${((100 * has) / all).toFixed(1)} %`];
      }),
    ),
  ].join('\n');
}
