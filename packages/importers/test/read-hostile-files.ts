/** A worker thread with a limited heap. It reads files and reports of each the first problem and the most memory outside the heap. */
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { NoTable, openTable } from '../src/formats/table.ts';
import type { BytesRead } from '../src/framework/source-items.ts';
import {
  OptionError,
  readCsv,
  readFinanceDatabase,
  readMapping,
  readMarketData,
  readOverrideFile,
  readRecords,
  readSec,
  readWikidata,
} from '../src/index.ts';

type Read = (file: string, progress: BytesRead) => AsyncIterable<object> | Promise<Iterable<object>>;
const READING = { separator: ';', decimalComma: false };

export const READERS = {
  csv: async function* (file, progress) {
    yield* (await openTable(file, { progress })).rows;
  },
  'json table': async function* (file, progress) {
    yield* (await openTable(file, { progress })).rows;
  },
  records: (file, progress) => readRecords([file], { progress }),
  json: (file, progress) => readRecords([file], { progress }),
  securities: (file, progress) =>
    readCsv(file, {
      ...READING,
      mapping: readMapping(['symbol=listings.ticker,name=name'], ['listings.mic=XNAS']),
      merge: false,
      idPrefix: '',
      source: 'hostile',
      origin: { name: 'hostile' },
      progress,
    }),
  financedatabase: (file, progress) => readFinanceDatabase(dirname(file), { progress }),
  'market data': (file, progress) =>
    readMarketData(file, {
      map: [],
      rates: new Map(),
      decimalComma: false,
      exchange: 'XNAS',
      source: { name: 'hostile', url: '', licence: '', date: '', fields: [] },
      progress,
    }),
  sec: (file, progress) => readSec([file], { progress }),
  settings: (file) => readOverrideFile(file, { ...READING, by: 'test', reason: undefined }),
  wikidata: (file, progress) => readWikidata(file, { workDir: dirname(file), progress }),
} as const satisfies Readonly<Record<string, Read>>;

interface HostileFile {
  readonly file: string;
  readonly reader: keyof typeof READERS;
}

async function answerOf({ file, reader }: HostileFile): Promise<{ problem: string; buffers: number }> {
  const before = process.memoryUsage().arrayBuffers;
  let buffers = 0;
  let problem = '';
  const progress = {
    total: 0,
    get read() {
      return 0;
    },
    set read(_bytes: number) {
      buffers = Math.max(buffers, process.memoryUsage().arrayBuffers - before);
    },
  };
  try {
    for await (const item of await READERS[reader](file, progress))
      if ('problem' in item && problem === '') problem = String(item.problem);
  } catch (error) {
    if (!(error instanceof NoTable || error instanceof OptionError)) throw error;
    problem = error.message;
  }
  return { problem, buffers };
}

const answers: { problem: string; buffers: number }[] = [];
for (const file of workerData as HostileFile[]) answers.push(await answerOf(file));
parentPort?.postMessage(answers);
