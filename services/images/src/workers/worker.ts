/**
 * A worker process. It does one job at a time: what one file can do to the programs that decode it stays in here. The parent watches
 * its time and memory, and ends it.
 */

import { boundSharp, renderRaster } from '../drawing/draw.ts';
import { Refused } from '../image/image.ts';
import { ingest } from '../ingest/ingest.ts';
import { type Job, OUT_OF_MEMORY, type Reply } from './worker-process.ts';

boundSharp();
process.on('message', async (job: Job) => send(await replyTo(job)));
// The parent has gone, in whatever way.
process.on('disconnect', () => process.exit());
// The parent decides when to stop, also when a terminal signals the whole group.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
const own = process.env.WATCH_OWN_MEBIBYTES;
if (own !== undefined) watchOwnMemory(Number(own));
send({ outcome: 'ready' });

/**
 * Where the parent cannot read what this process uses, the process watches itself. It notices what sharp does in its threads, but
 * not what this thread does. This thread's own memory is bounded by --max-old-space-size.
 */
function watchOwnMemory(mebibytes: number): void {
  setInterval(() => {
    if (process.memoryUsage.rss() > mebibytes * 1024 ** 2) process.exit(OUT_OF_MEMORY);
  }, 10).unref();
}

async function replyTo(job: Job): Promise<Reply> {
  try {
    const result = job.name === 'ingest' ? await ingest(job.file, job) : await renderRaster(job.form, job);
    return { outcome: 'done', result };
  } catch (error) {
    if (error instanceof Refused) return { outcome: 'refused', message: error.message };
    // The stack has overflowed. Whatever recursed, it followed the file.
    if (error instanceof RangeError && job.name === 'ingest')
      return { outcome: 'refused', message: 'the file is nested too deeply: simplify it' };
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { outcome: 'failed', message };
  }
}

function send(reply: Reply): void {
  process.send?.(reply);
}
