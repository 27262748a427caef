/**
 * A worker process. It does one job at a time: what one file can do to the programs that decode it stays in here. The parent watches
 * its time and memory, and ends it.
 */
import { ingest } from '../ingest/ingest.ts';
import { Refused } from '../ingest/refused.ts';
import { boundSharp } from './draw.ts';
import type { Job, Reply } from './jobs.ts';
import { renderRaster } from './render.ts';

boundSharp();
process.on('message', async (job: Job) => send(await replyTo(job)));
// The parent has gone, in whatever way.
process.on('disconnect', () => process.exit());
// The parent decides when to stop, also when a terminal signals the whole group.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
send({ outcome: 'ready' });

async function replyTo(job: Job): Promise<Reply> {
  try {
    const result = job.name === 'ingest' ? await ingest(job.file, job) : await renderRaster(job.form, job);
    return { outcome: 'done', result };
  } catch (error) {
    if (error instanceof Refused) return { outcome: 'refused', message: error.message };
    return { outcome: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function send(reply: Reply): void {
  process.send?.(reply);
}
