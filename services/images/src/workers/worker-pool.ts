import { setTimeout as delay } from 'node:timers/promises';
import { Fault, type Logger } from '@brand-data/runtime';
import { type Job, type JobOutcome, startWorker, type WorkerProcess } from './worker-process.ts';

const MOST_WAITING = 64;
/** A job that no worker has taken by then is given up. */
const WAIT_MS = 5000;
/** The pause before another attempt to start a worker. */
const RESTART_MS = 1000;

interface Waiting {
  job: Job;
  resolve(outcome: JobOutcome): void;
  reject(error: Fault): void;
  giveUp: NodeJS.Timeout;
}

/** Processes that take jobs in the order of their arrival, one at a time each. */
export class WorkerPool {
  readonly #log: Logger;
  readonly #waiting: Waiting[] = [];
  readonly #idle: WorkerProcess[] = [];
  readonly #all = new Set<WorkerProcess>();
  readonly #busy = new Set<Promise<void>>();
  #isClosing = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Starts `count` processes. Resolves when all are ready. */
  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#keepWorker()));
  }

  /** Does a job. If its worker crashes, which can have another cause than the job, another worker tries once more. */
  async run(job: Job): Promise<JobOutcome> {
    const outcome = await this.#enqueue(job);
    return outcome.outcome === 'ended' && outcome.why === 'crash' ? this.#enqueue(job) : outcome;
  }

  /** Refuses what waits, lets the jobs under way end, which takes at most their time, and ends all processes. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { giveUp, reject } of this.#waiting.splice(0)) {
      clearTimeout(giveUp);
      reject(stopping());
    }
    await Promise.all(this.#busy);
    await Promise.all([...this.#all].map((worker) => worker.end()));
  }

  /** Resolves when a worker has answered the job or has ended. */
  async #enqueue(job: Job): Promise<JobOutcome> {
    if (this.#isClosing) throw stopping();
    if (this.#waiting.length >= MOST_WAITING) throw tooBusy();
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        reject(tooBusy());
      }, WAIT_MS);
      const entry = { job, resolve, reject, giveUp };
      this.#waiting.push(entry);
      this.#handOut();
    });
  }

  #handOut(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#idle.shift();
      if (worker === undefined) return;
      const next = this.#waiting.shift() as Waiting;
      clearTimeout(next.giveUp);
      const work = this.#runOn(worker, next);
      this.#busy.add(work);
      void work.then(() => this.#busy.delete(work));
    }
  }

  async #runOn(worker: WorkerProcess, { job, resolve }: Waiting): Promise<void> {
    const outcome = await worker.run(job);
    if (outcome.outcome === 'ended')
      this.#log.warn({ why: outcome.why, job: job.name }, 'a job ended its worker process');
    resolve(outcome);
    if (this.#isClosing) return;
    if (!worker.isFit()) return worker.end();
    this.#idle.push(worker);
    this.#handOut();
  }

  /** Keeps one worker running until the pool closes. Resolves when the first is ready. */
  async #keepWorker(): Promise<void> {
    const worker = await startWorker();
    this.#all.add(worker);
    if (this.#isClosing) return worker.end();
    this.#idle.push(worker);
    this.#handOut();
    void worker.ended.then(async (lastWords) => {
      this.#all.delete(worker);
      const at = this.#idle.indexOf(worker);
      if (at >= 0) this.#idle.splice(at, 1);
      if (this.#isClosing) return;
      if (lastWords !== '') this.#log.warn({ lastWords }, 'a worker process ended');
      await this.#replaceWorker();
    });
  }

  async #replaceWorker(): Promise<void> {
    while (!this.#isClosing) {
      try {
        return await this.#keepWorker();
      } catch (err) {
        this.#log.error({ err }, 'a worker process did not start: trying again');
        await delay(RESTART_MS);
      }
    }
  }
}

function stopping(): Fault {
  return new Fault('unavailable', 'the service is stopping: try again in a second');
}

function tooBusy(): Fault {
  return new Fault('resource_exhausted', 'too many pictures wait to be made: try again in a second');
}
