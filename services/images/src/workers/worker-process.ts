import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { FONT_SETTINGS, FONTS } from '../drawing/fonts.ts';
import type { Form, Format, PictureKind } from '../image/image.ts';
import type { Ingested } from '../ingest/ingest.ts';

/** A job that needs more processor time than this is ended with its worker. On an idle machine it is then answered within 2 s. */
const JOB_MS = 1_850;
/** On a busy machine a job may wait for the processor, but it is ended by then. */
const BUSY_MS = 10_000;
/**
 * A worker with more resident memory is ended. It may grow by some megabytes until that happens, and stays below 256 MB. An idle
 * one has about 90 MiB, and the largest picture takes about 120 MiB more.
 */
const MOST_MEBIBYTES = 232;
/** How often the memory and processor time of a worker are read. */
const WATCH_MS = 10;
/** A worker that keeps more memory than this after a job is replaced, so that the next job has room. */
const KEPT_MEBIBYTES = 160;
/** A worker loads its libraries in 0.2 s on an idle machine. */
const START_MS = 60_000;
/** With this code a worker that watches itself says that it had too much memory. */
export const OUT_OF_MEMORY = 78;
/** Characters of a worker's last output that go to the log if it ends by itself. */
const LAST_WORDS = 2000;

/** Why a worker did not answer a job: it was ended, or it ended by itself (`crash`). */
export type Ending = 'time' | 'busy_machine' | 'memory' | 'crash';

/** What comes of a job: the worker's reply, or why it ended without one. */
export type JobOutcome = Reply | { outcome: 'ended'; why: Ending };

export type WorkerProcess = Awaited<ReturnType<typeof startWorker>>;

/** The code of the service, and all packages. */
const CODE = [
  join(import.meta.dirname, '../..'),
  `${FONTS.slice(0, FONTS.indexOf('node_modules'))}node_modules`,
];
/**
 * JavaScript in a worker reads only code, and starts no process and no thread. Node warns that an addon may do more: sharp is one, and
 * writes pictures. Node's databases would write files too.
 */
const PERMISSIONS = [
  '--permission',
  '--allow-addons',
  '--disable-warning=PERM0001',
  '--no-experimental-sqlite',
  ...CODE.map((folder) => `--allow-fs-read=${folder}`),
];

/** Starts a worker process and waits until it is ready. Rejects if it does not get ready. */
export async function startWorker() {
  const child = fork(join(import.meta.dirname, `worker${extname(import.meta.filename)}`), [], {
    // A picture's buffers are outside this heap.
    execArgv: ['--max-old-space-size=128', ...PERMISSIONS],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A process that decodes strangers' files gets no setting of the service, and so no secret.
    env: environment(),
    cwd: FONTS,
  });
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS);
  });
  let hasEnded = false;
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const finish = () => {
    hasEnded = true;
    resolve(lastWords);
  };
  child.once('exit', finish);
  child.on('error', (error) => {
    lastWords += error.message;
    // The process could not be started.
    if (child.pid === undefined) finish();
  });
  const end = async () => {
    if (!hasEnded) child.kill('SIGKILL');
    await ended;
  };
  const ready = once(child, 'message', { signal: AbortSignal.timeout(START_MS) });
  const problem = await Promise.race([
    ready.then(
      () => undefined,
      () => 'it took too long',
    ),
    ended,
  ]);
  if (problem !== undefined) {
    await end();
    throw new Error(`a worker process did not start: ${problem}`);
  }
  return {
    /** Does one job. No other may be under way. Never rejects. */
    run: (job: Job) => runJob(child, job, ended),
    /** Returns whether the worker can do another job. */
    isFit: () => !hasEnded && child.connected && residentMemoryOf(child.pid).now <= KEPT_MEBIBYTES,
    /** Resolves with the worker's last output when the process has ended. */
    ended,
    /** Ends the process, and waits for that. */
    end,
  };
}

/** Hands the job to the worker and watches it until it answers or ends. */
async function runJob(child: ChildProcess, job: Job, ended: Promise<string>): Promise<JobOutcome> {
  const { promise, resolve } = Promise.withResolvers<Reply | 'ended'>();
  let why: Ending = 'crash';
  const kill = (reason: Ending) => {
    why = reason;
    child.kill('SIGKILL');
  };
  const before = processorMsOf(child.pid);
  const late = setTimeout(() => kill(CAN_WATCH ? 'busy_machine' : 'time'), CAN_WATCH ? BUSY_MS : JOB_MS);
  const watch = setInterval(() => {
    if (residentMemoryOf(child.pid).now > MOST_MEBIBYTES) kill('memory');
    else if (processorMsOf(child.pid) - before > JOB_MS) kill('time');
  }, WATCH_MS);
  child.once('message', resolve);
  void ended.then(() => resolve('ended'));
  // A failure to send is the worker's end, which `ended` reports.
  child.send(job, () => {});
  const reply = await promise;
  clearTimeout(late);
  clearInterval(watch);
  child.off('message', resolve);
  if (reply !== 'ended') return reply;
  return { outcome: 'ended', why: child.exitCode === OUT_OF_MEMORY ? 'memory' : why };
}

function environment(): NodeJS.ProcessEnv {
  return {
    FONTCONFIG_FILE: FONT_SETTINGS,
    // Fewer arenas of glibc's allocator keep less freed memory.
    MALLOC_ARENA_MAX: '2',
    UV_THREADPOOL_SIZE: '2',
    ...(!CAN_WATCH && { WATCH_OWN_MEBIBYTES: String(MOST_MEBIBYTES) }),
  };
}

/** The message that the service sends a worker. */
export type Job =
  | { name: 'ingest'; file: Uint8Array; kind: PictureKind; dark: Uint8Array | undefined; isStored: boolean }
  | { name: 'render'; form: Form; longer: number | undefined; format: Exclude<Format, 'svg'> };

/** `ready` is sent once at the start. Each job gets one of the other messages. */
export type Reply =
  | { outcome: 'ready' }
  | { outcome: 'done'; result: Ingested | Form }
  /** The job's picture is not taken. The message is for the person who sent it. */
  | { outcome: 'refused'; message: string }
  /** A defect of the service. */
  | { outcome: 'failed'; message: string };

/** Whether this system's kernel reports the usage of other processes. Only Linux does. */
export const CAN_WATCH = process.platform === 'linux';

/** The unit of times in /proc on every architecture. */
const TICKS_PER_SECOND = 100;

/** Returns the resident memory of a process, in MiB: now, and the most that it ever had. Both are 0 if it cannot be read. */
export function residentMemoryOf(pid: number | undefined): { now: number; most: number } {
  const status = read(`/proc/${pid}/status`);
  const mebibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return { now: mebibytes('VmRSS'), most: mebibytes('VmHWM') };
}

/** Returns the milliseconds of processor time that a process has used. 0 if they cannot be read. */
export function processorMsOf(pid: number | undefined): number {
  // The name of the program, in brackets, may contain spaces.
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? (ticks * 1000) / TICKS_PER_SECOND : 0;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
