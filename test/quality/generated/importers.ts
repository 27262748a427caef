import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CatalogAdminServiceClient,
  PutBrandsRequest,
  PutQuotesRequest,
  Source,
} from '@brand-data/contracts';
import {
  type AdminPort,
  ImportJournal,
  importBrands,
  importQuotes,
  OptionError,
  type Refusal,
  readCsv,
  readFinanceDatabase,
  readLogoFiles,
  readMapping,
  readMarketData,
  readOverrideFile,
  readRates,
  readRecords,
  readWikidata,
} from '@brand-data/importers';
import { inProcessImages } from '@brand-data/importers/test/in-process-images.ts';
import { Fault } from '@brand-data/runtime';
import type { Random } from '@brand-data/testing/random';
import { pick, someText, type Target } from './inputs.ts';
import { bytesOfFile, dumpOf, LINES, quotesOf, recordsOf, settingsOf, tableOf } from './source-files.ts';

const CELLS = { separator: ';', decimalComma: false };
const ORIGIN = Source.fromPartial({ name: 'generated' });
/** No message that an operator reads is longer, whatever the file has. */
const LONGEST_REASON = 10_000;
/** What a refusal may repeat of a line: 64 KiB, and a sign that it goes on. */
const LONGEST_RAW = 64 * 1_024 + 1;

/** One kind of source: its file's name, what the file has, and how it is imported. */
interface Kind {
  readonly name: string;
  content(random: Random): string;
  run(file: string, random: Random): Promise<unknown>;
}

const KINDS: readonly Kind[] = [
  { name: 'records.ndjson', content: linesOf(recordsOf), run: (file) => brandsOf(readRecords([file])) },
  {
    name: 'records.json',
    content: (random) => `[${recordsOf(random).join(',\n')}]`,
    run: (file) => brandsOf(readRecords([file])),
  },
  { name: 'table.csv', content: tableOf, run: (file, random) => brandsOf(readTable(file, random)) },
  { name: 'securities.csv', content: tableOf, run: (file, random) => brandsOf(readSecurities(file, random)) },
  { name: 'quotes.csv', content: tableOf, run: quotesIn },
  { name: 'quotes.ndjson', content: linesOf(quotesOf), run: quotesIn },
  { name: 'rates.csv', content: tableOf, run: (file) => readRates([], file) },
  { name: 'settings.csv', content: tableOf, run: settingsIn },
  { name: 'settings.ndjson', content: linesOf(settingsOf), run: settingsIn },
  {
    name: 'equities/XYZ.csv',
    content: tableOf,
    run: (file) => brandsOf(readFinanceDatabase(join(file, '..'))),
  },
  {
    name: 'dump.json',
    content: linesOf(dumpOf),
    run: (file) => brandsOf(readWikidata(file, { workDir: join(file, '..') })),
  },
  { name: 'logos/Apple logo.svg', content: (random) => someText(random, LINES), run: logosIn },
];

/**
 * The importers, with stand-ins for catalog and images. Each import of a generated file ends: it has sent or refused every item
 * with a reason, or it ends with a reason that is about the file or the options.
 */
export function importers(folder: string): Target {
  const made = mkdir(folder, { recursive: true });
  let number = 0;
  return {
    inputs: LINES,
    async try(random) {
      await made;
      const kind = KINDS[number % KINDS.length] as Kind;
      number += 1;
      const own = join(folder, `${number}`);
      const file = join(own, kind.name);
      await mkdir(join(file, '..'), { recursive: true });
      const bytes = bytesOfFile(kind.content(random), random);
      await writeFile(file, bytes);
      try {
        await kind.run(file, random);
      } catch (error) {
        if (!isForOperators(error))
          throw new Error(`${kind.name}: ${(error as Error).stack}\n${bytes.toString('base64')}`);
      }
      await rm(own, { recursive: true });
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** Whether a command shows the error as it is, instead of a stack. */
function isForOperators(error: unknown): boolean {
  const { name, message } = error as Error;
  const isExpected = error instanceof OptionError || name === 'NoTable' || / items in a row /.test(message);
  return isExpected && message.length <= LONGEST_REASON;
}

function linesOf(make: (random: Random) => string[]): Kind['content'] {
  return (random) => make(random).join('\n');
}

const client = {
  getBrand: () => {
    throw new Fault('not_found', 'the catalogue is empty');
  },
  putBrands(request: PutBrandsRequest) {
    PutBrandsRequest.encode(request).finish();
    return {
      created: request.brands.length,
      changed: 0,
      unchanged: 0,
      refused: [],
      skipped: [],
      conflicts: [],
      refusedLinks: [],
      keptIds: [],
    };
  },
  putQuotes(request: PutQuotesRequest) {
    PutQuotesRequest.encode(request).finish();
    return { changed: request.quotes.length, unchanged: 0, refused: [], skipped: [], keptIds: [] };
  },
  finishImport: () => ({ pruned: 0, more: false }),
};
const catalog: AdminPort<CatalogAdminServiceClient> = {
  async call(method, request) {
    const answer = method(client as unknown as CatalogAdminServiceClient) as unknown as (
      given: unknown,
    ) => never;
    return answer(request);
  },
};
/** Checks what an import refuses or skips, and writes nothing. */
class CheckingJournal extends ImportJournal {
  override async refuse(refusal: Refusal) {
    checked(refusal);
  }
  override async refusePicture({ reason }: { reason: string }) {
    checked({ from: '', reason });
  }
  override async skip({ skipped }: { skipped: string }) {
    checked({ from: '', reason: skipped });
  }
}
const IMPORT = {
  source: 'generated',
  journal: new CheckingJournal({ rejectsPath: '', conflictsPath: '', shown: (path) => path }),
};

/** Throws if an operator could do nothing with the refusal. */
function checked({ reason, raw = '' }: Refusal): void {
  if (reason === '' || reason.length > LONGEST_REASON || raw.length > LONGEST_RAW)
    throw new Error(`a refusal of ${raw.length} characters with the reason "${reason.slice(0, 1_000)}"`);
}

function brandsOf(brands: Parameters<typeof importBrands>[1]): Promise<unknown> {
  const images = inProcessImages();
  return importBrands({ catalog, images: () => images }, brands, IMPORT);
}

function readTable(file: string, random: Random) {
  const join = random.unit() < 0.2 ? { file, column: 'symbol', otherColumn: 'symbol' } : undefined;
  const columns =
    'symbol=id,name=name,website=links.websites,logo=images.logo,country=company.headquarters.country';
  return readColumns(file, random, columns, join);
}

function readSecurities(file: string, random: Random) {
  const columns = 'symbol=listings.ticker,mic=listings.mic,isin=listings.isin,name=name,price=stock.price';
  return readColumns(file, random, columns);
}

function readColumns(
  file: string,
  random: Random,
  columns: string,
  join?: Parameters<typeof readCsv>[1]['join'],
) {
  return readCsv(file, {
    ...CELLS,
    mapping: readMapping([columns], []),
    join,
    merge: random.unit() < 0.3,
    idPrefix: '',
    source: 'generated',
    origin: ORIGIN,
  });
}

async function quotesIn(file: string, random: Random): Promise<void> {
  const quotes = readMarketData(file, {
    map: random.unit() < 0.1 ? ['usd=change'] : [],
    rates: new Map([['USD', 1]]),
    decimalComma: random.unit() < 0.5,
    exchange: 'XNAS',
    source: ORIGIN,
  });
  await importQuotes(catalog, quotes, IMPORT);
}

async function settingsIn(file: string): Promise<void> {
  for (const setting of await readOverrideFile(file, { ...CELLS, by: 'generated', reason: undefined }))
    if ('problem' in setting) checked({ from: setting.from, reason: setting.problem });
}

function logosIn(file: string, random: Random): Promise<unknown> {
  const names = Array.from({ length: LINES }, () =>
    pick(
      ['Apple logo.svg', 'File:apple_logo.svg', 'Apple%20logo.svg', '../Apple logo.svg', someText(random, 6)],
      random,
    ),
  );
  async function* logoFiles() {
    for (const [index, name] of names.entries())
      yield {
        id: `q${index % 15}`,
        name: someText(random, 4),
        wikidataQid: pick(['Q1', '', 'x'], random),
        file: name,
      };
  }
  return brandsOf(readLogoFiles(join(file, '..'), logoFiles(), () => undefined));
}
