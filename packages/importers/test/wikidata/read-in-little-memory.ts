/** A worker thread with a limited heap. It reads a dump and reports how many records it has found. */
import { parentPort, workerData } from 'node:worker_threads';
import { readWikidata } from '../../src/sources/wikidata/read-wikidata.ts';

const { file, workDir } = workerData as { file: string; workDir: string };
let records = 0;
let buffers = 0;
const progress = {
  total: 0,
  get read() {
    return 0;
  },
  set read(_bytes: number) {
    buffers = Math.max(buffers, process.memoryUsage().arrayBuffers);
  },
};
for await (const each of readWikidata(file, { workDir, progress })) {
  if ('item' in each) records++;
}
parentPort?.postMessage({ records, buffers });
