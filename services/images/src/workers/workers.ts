import { Fault, type FaultKind, type Service } from '@brand-data/runtime';
import { Counter, Histogram } from 'prom-client';
import type { Form, Format, PictureKind, Size } from '../image/image.ts';
import type { Ingested } from '../ingest/ingest.ts';
import { resizeSvg, scaled } from '../svg/svg-size.ts';
import { WorkerPool } from './worker-pool.ts';
import type { Ending, JobOutcome } from './worker-process.ts';

/** Decodes and draws pictures outside this process, each within a bound of time and memory. */
export interface Workers {
  /**
   * Sanitizes or re-encodes a file of at most 4 MiB, measures it, and makes its light and dark form. Rejects with Fault
   * `invalid_argument`, whose message says why and what to do, if the file is refused; `resource_exhausted` if too much work waits;
   * `unavailable` if the machine is too busy for the work.
   *
   * @param options.dark the file for dark pages; without it the dark form is made from the light one
   * @param options.isStored whether `file` is the light form of a stored image, which stays as it is
   */
  ingest(
    file: Uint8Array,
    options: { kind: PictureKind; dark?: Uint8Array | undefined; isStored?: boolean },
  ): Promise<Ingested>;
  /**
   * Draws a stored form in a size and a format. A raster never grows, an SVG does, and an SVG stays an SVG if `format` is svg.
   * Rejects as `ingest`, but with Fault `failed_precondition` if the picture takes too much time or memory.
   *
   * @param options.size bounds the longer side; without it, the form's own size
   * @param options.format svg only for an SVG form
   */
  render(form: Form, options: { size?: Size; format: Format }): Promise<Form>;
}

/** Starts `count` worker processes, counts and times their work, and stops them when the service stops. */
export async function openWorkers(
  service: Pick<Service, 'log' | 'metrics' | 'onStop'>,
  { count }: { count: number },
): Promise<Workers> {
  const pool = new WorkerPool(service.log);
  service.onStop('worker processes', () => pool.close());
  await pool.start(count);
  const measured = workMeasure(service);
  return {
    ingest: (file, { kind, dark, isStored = false }) =>
      measured('ingest', async () => {
        const answer = await pool.run({ name: 'ingest', file, kind, dark, isStored });
        return resultOf<Ingested>(answer, 'invalid_argument');
      }),
    render: (form, { size, format }) =>
      measured('render', async () => {
        if (format === 'svg') return resized(form, size);
        const answer = await pool.run({ name: 'render', form, longer: size, format });
        return resultOf<Form>(answer, 'failed_precondition');
      }),
  };
}

/** Resizes an SVG: the text stays the same but for its width and height. */
function resized(form: Form, size: Size | undefined): Form {
  if (size === undefined) return form;
  const target = scaled(form, size);
  return { ...form, ...target, bytes: Buffer.from(resizeSvg(Buffer.from(form.bytes).toString(), target)) };
}

/** Returns the result of a job. `blame` is the kind of fault if the picture itself ended the worker. */
function resultOf<T extends Ingested | Form>(answer: JobOutcome, blame: FaultKind): T {
  switch (answer.outcome) {
    case 'done':
      return answer.result as T;
    case 'refused':
      throw new Fault('invalid_argument', answer.message);
    case 'ended':
      throw answer.why === 'busy_machine'
        ? new Fault('unavailable', 'the machine is too busy to make the picture: try again in a second')
        : new Fault(blame, ENDINGS[answer.why]);
    default:
      throw new Error(`a worker failed: ${'message' in answer ? answer.message : answer.outcome}`);
  }
}

const ENDINGS: Record<Exclude<Ending, 'busy_machine'>, string> = {
  time: 'the picture takes 2 s or more to make: simplify it, or scale it down',
  memory: 'the picture takes more than 256 MB of memory to make: simplify it, or scale it down',
  crash: 'the picture ended the program that reads it: it is damaged; save it again',
};

/** Returns a function that counts and times one piece of work. */
function workMeasure({ metrics }: Pick<Service, 'metrics'>) {
  const registers = [metrics];
  const duration = new Histogram({
    name: 'images_work_duration_seconds',
    help: 'Seconds until a worker had ingested a file or rendered a picture, with the wait for a worker',
    labelNames: ['work'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const failures = new Counter({
    name: 'images_work_failures_total',
    help: 'Work that failed. "refused": the file is not acceptable. "killed": the picture took too much time or memory to draw. "too_busy": no worker was free in time. "defect": any other reason',
    labelNames: ['work', 'reason'],
    registers,
  });
  for (const work of ['ingest', 'render'])
    for (const reason of ['refused', 'killed', 'too_busy', 'defect']) failures.inc({ work, reason }, 0);

  return async <T>(work: 'ingest' | 'render', run: () => Promise<T>): Promise<T> => {
    const stop = duration.startTimer({ work });
    try {
      return await run();
    } catch (error) {
      failures.inc({ work, reason: reasonOf(error) });
      throw error;
    } finally {
      stop();
    }
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Fault)) return 'defect';
  if (error.kind === 'invalid_argument') return 'refused';
  return error.kind === 'failed_precondition' ? 'killed' : 'too_busy';
}
