/** A worker thread with a limited heap. It reads files and reports of each the first problem and the most memory outside the heap. */
import { parentPort, workerData } from 'node:worker_threads';
import { NoTable, openTable } from '../src/formats/table.ts';
import { readRecords } from '../src/sources/records/read-records.ts';

interface HostileFile {
  readonly file: string;
  readonly reader: string;
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
    const items =
      reader === 'csv' ? (await openTable(file, progress)).rows : readRecords([file], { progress });
    for await (const item of items) if ('problem' in item && problem === '') problem = item.problem;
  } catch (error) {
    if (!(error instanceof NoTable)) throw error;
    problem = error.message;
  }
  return { problem, buffers };
}

const answers: { problem: string; buffers: number }[] = [];
for (const file of workerData as HostileFile[]) answers.push(await answerOf(file));
parentPort?.postMessage(answers);
