import { Fault, type Service } from '@brand-data/runtime';
import { resizeSvg } from '../drawing/resize-svg.ts';
import type { Form, Format, PictureKind, Size } from '../image/image.ts';
import type { Ingested } from '../ingest/ingest.ts';
import { scaled } from '../svg/svg-size.ts';
import type { Job, Reply } from './jobs.ts';
import { type Ending, startWorker, type WorkerProcess } from './worker-process.ts';

/** Decodes and draws pictures outside this process, each within a bound of time and memory. */
export interface Workers {
  /**
   * Sanitizes or re-encodes a file, measures it, and makes its light and dark form. Rejects with Fault `invalid_argument`, whose
   * message says why and what to do, if the file is refused. Rejects with Fault `resource_exhausted` if too much work waits, and
   * with Fault `unavailable` if the machine is too busy for the work.
   *
   * @param file of any content, at most 4 MiB
   * @param options.dark the file for dark pages; without it the dark form is made from the light one
   * @param options.isStored whether `file` is the light form of a stored image, which stays as it is
   */
  ingest(
    file: Uint8Array,
    options: { kind: PictureKind; dark?: Uint8Array; isStored?: boolean },
  ): Promise<Ingested>;
  /**
   * Draws a stored form in a size and a format. The size bounds the longer side. A raster never grows, an SVG does, and an SVG
   * stays an SVG if `format` is svg. Rejects with Fault `failed_precondition` if the picture takes too much time or memory, with
   * Fault `resource_exhausted` if too much work waits, and with Fault `unavailable` if the machine is too busy for the work.
   *
   * @param options.size without it, the form's own size
   * @param options.format svg only for an SVG form
   */
  render(form: Form, options: { size?: Size; format: Format }): Promise<Form>;
}

/** Jobs that wait for a worker, at most. */
const MOST_WAITING = 64;
/** A job that no worker has taken by then is given up. */
const WAIT_MS = 5000;
/** The pause before another attempt to start a worker. */
const RESTART_MS = 1000;

type Answer = Reply | { outcome: 'ended'; why: Ending };
interface Waiting {
  job: Job;
  settle: { resolve(answer: Answer): void; reject(error: Fault): void };
  giveUp: NodeJS.Timeout;
}

/** Starts `count` worker processes, and stops them when the service stops. */
export async function openWorkers(
  service: Pick<Service, 'log' | 'onStop'>,
  { count }: { count: number },
): Promise<Workers> {
  const pool = createPool(service);
  service.onStop('worker processes', () => pool.close());
  await pool.start(count);
  return {
    ingest: async (file, { kind, dark, isStored = false }) => {
      const answer = await pool.run({ name: 'ingest', file, kind, dark, isStored });
      return resultOf<Ingested>(answer, 'invalid_argument');
    },
    render: async (form, { size, format }) => {
      if (format === 'svg') return resized(form, size);
      const answer = await pool.run({ name: 'render', form, longer: size, format });
      return resultOf<Form>(answer, 'failed_precondition');
    },
  };
}

/** An SVG in another size is the same text with another width and height. */
function resized(form: Form, size: Size | undefined): Form {
  if (size === undefined) return form;
  const target = scaled(form, size);
  return { ...form, ...target, bytes: Buffer.from(resizeSvg(Buffer.from(form.bytes).toString(), target)) };
}

/** Processes that take jobs in the order of their arrival, one at a time each. */
function createPool({ log }: Pick<Service, 'log'>) {
  const waiting: Waiting[] = [];
  const idle: WorkerProcess[] = [];
  const all = new Set<WorkerProcess>();
  const busy = new Set<Promise<void>>();
  const closing = new AbortController();

  function handOut(): void {
    for (let next = waiting[0]; next !== undefined && idle.length > 0; next = waiting[0]) {
      const worker = idle.shift();
      if (worker === undefined) return;
      waiting.shift();
      clearTimeout(next.giveUp);
      const work = runOn(worker, next);
      busy.add(work);
      void work.then(() => busy.delete(work));
    }
  }

  async function runOn(worker: WorkerProcess, { job, settle }: Waiting): Promise<void> {
    const answer = await worker.run(job);
    if (answer.outcome === 'ended')
      log.warn({ why: answer.why, job: job.name }, 'a job ended its worker process');
    settle.resolve(answer);
    if (closing.signal.aborted) return;
    if (worker.isFit()) {
      idle.push(worker);
      handOut();
    } else await worker.end();
  }

  /** Keeps one worker running until the pool closes. Resolves when the first is ready. */
  async function keepWorker(): Promise<void> {
    const worker = await startWorker();
    all.add(worker);
    if (closing.signal.aborted) return worker.end();
    idle.push(worker);
    handOut();
    void worker.ended.then(async (lastWords) => {
      all.delete(worker);
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
      if (closing.signal.aborted) return;
      if (lastWords !== '') log.warn({ lastWords }, 'a worker process ended');
      await replaceWorker();
    });
  }

  async function replaceWorker(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        return await keepWorker();
      } catch (err) {
        log.error({ err }, 'a worker process did not start: trying again');
        await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
      }
    }
  }

  /** Resolves when a worker has answered the job or has ended. */
  function enqueue(job: Job): Promise<Answer> {
    if (closing.signal.aborted)
      throw new Fault('unavailable', 'the service is stopping: try again in a second');
    if (waiting.length >= MOST_WAITING) throw tooBusy();
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(() => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(tooBusy());
      }, WAIT_MS);
      const entry = { job, settle: { resolve, reject }, giveUp };
      waiting.push(entry);
      handOut();
    });
  }

  return {
    async start(count: number): Promise<void> {
      await Promise.all(Array.from({ length: count }, () => keepWorker()));
    },
    /** Does a job. If its worker crashes, which can have another cause than the job, another worker tries once more. */
    async run(job: Job): Promise<Answer> {
      const answer = await enqueue(job);
      return answer.outcome === 'ended' && answer.why === 'crash' ? enqueue(job) : answer;
    },
    /** Refuses what waits, lets the jobs under way end, which takes at most their time, and ends all processes. */
    async close(): Promise<void> {
      closing.abort();
      for (const { giveUp, settle } of waiting.splice(0)) {
        clearTimeout(giveUp);
        settle.reject(new Fault('unavailable', 'the service is stopping: try again in a second'));
      }
      await Promise.all(busy);
      await Promise.all([...all].map((worker) => worker.end()));
    },
  };
}

function tooBusy(): Fault {
  return new Fault('resource_exhausted', 'too many pictures wait to be made: try again in a second');
}

/** The result of a job. `blame` is the kind of fault if the picture itself ended the worker. */
function resultOf<T extends Ingested | Form>(
  answer: Answer,
  blame: 'invalid_argument' | 'failed_precondition',
): T {
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
      throw new Error(`a worker failed: ${answer.outcome === 'failed' ? answer.message : answer.outcome}`);
  }
}

const ENDINGS: Record<Exclude<Ending, 'busy_machine'>, string> = {
  time: 'the picture takes 2 s or more to make: simplify it, or scale it down',
  memory: 'the picture takes more than 256 MB of memory to make: simplify it, or scale it down',
  crash: 'the picture ended the program that reads it: it is damaged; save it again',
};
