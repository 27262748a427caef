import { setTimeout as delay } from 'node:timers/promises';
import { Fault, type Logger } from '@brand-data/runtime';
import { type Job, type JobOutcome, startWorker, type WorkerProcess } from './worker-process.ts';

const MOST_WAITING = 64;
/** A job that no worker has taken by then is given up. */
const WAIT_MS = 5000;
/** The pause before another attempt to start a worker. */
const RESTART_MS = 1000;

/** Processes that take jobs in the order of their arrival, one at a time each. */
export class WorkerPool {
  readonly #log: Logger;
  readonly #waiting: PromiseWithResolvers<WorkerProcess>[] = [];
  readonly #idle: WorkerProcess[] = [];
  readonly #all = new Set<WorkerProcess>();
  readonly #busy = new Set<Promise<JobOutcome>>();
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
    const outcome = await this.#runOnce(job);
    return outcome.outcome === 'ended' && outcome.why === 'crash' ? this.#runOnce(job) : outcome;
  }

  /** Refuses what waits, lets the jobs under way end, which takes at most their time, and ends all processes. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { reject } of this.#waiting.splice(0)) reject(stopping());
    await Promise.all(this.#busy);
    await Promise.all([...this.#all].map((worker) => worker.end()));
  }

  /** Resolves when a worker has answered the job or has ended. */
  async #runOnce(job: Job): Promise<JobOutcome> {
    if (this.#isClosing) throw stopping();
    const worker = this.#idle.shift() ?? (await this.#nextWorker());
    const work = worker.run(job);
    this.#busy.add(work);
    const outcome = await work;
    this.#busy.delete(work);
    if (outcome.outcome === 'ended')
      this.#log.warn({ why: outcome.why, job: job.name }, 'a job ended its worker process');
    if (!this.#isClosing && worker.isFit()) this.#handOut(worker);
    else void worker.end();
    return outcome;
  }

  async #nextWorker(): Promise<WorkerProcess> {
    if (this.#waiting.length >= MOST_WAITING) throw tooBusy();
    const turn = Promise.withResolvers<WorkerProcess>();
    this.#waiting.push(turn);
    const giveUp = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(turn), 1);
      turn.reject(tooBusy());
    }, WAIT_MS);
    return turn.promise.finally(() => clearTimeout(giveUp));
  }

  /** Gives the worker to the job that waits longest. Without one, the worker is idle. */
  #handOut(worker: WorkerProcess): void {
    const next = this.#waiting.shift();
    if (next) next.resolve(worker);
    else this.#idle.push(worker);
  }

  /** Keeps one worker running until the pool closes. Resolves when the first is ready. */
  async #keepWorker(): Promise<void> {
    const worker = await startWorker();
    this.#all.add(worker);
    if (this.#isClosing) return worker.end();
    this.#handOut(worker);
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
