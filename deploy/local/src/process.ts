import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endsWithThisProcess, hasEnded } from './orphan-reaper.ts';
import { Problem } from './problem.ts';

const LOG_BYTES = 20 * 1024 * 1024;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** One that ran this long was well: the next pause is the first again. */
const RAN_WELL_MS = 30_000;

export interface ChildOptions {
  /** Its name in messages: "gateway-1". */
  name: string;
  command: string;
  args: string[];
  /** Its whole environment. */
  env: NodeJS.ProcessEnv;
  /** Takes its output; the one of before is kept beside it once it has grown large. */
  logFile: string;
  /** Whether it can be used; asked every 50 ms, and to answer within a second or so. */
  ready: () => Promise<boolean>;
  readyWithinMs: number;
  /** From SIGTERM to SIGKILL. */
  stopWithinMs: number;
  /** Start it again, after a pause that grows from 0.25 s to 10 s, when it ends by itself. */
  restart: boolean;
  /** Told what a person should know, one line at a time. */
  say: (line: string) => void;
  /** Aborted: a start that is under way ends, and with it the process. */
  signal?: AbortSignal | undefined;
}

/** A process of the stack. Its pid is another after a restart. */
export interface Child {
  readonly name: string;
  readonly pid: number | undefined;
  readonly logFile: string;
  /** Starts it and returns when it is ready. Rejects with a Problem that holds the last line of its log. */
  start(): Promise<void>;
  /** SIGTERM, then SIGKILL when it takes too long. It stays down. Gives its exit status; null: it had none. */
  stop(): Promise<number | null>;
  /** SIGKILL. It stays down. */
  kill(): Promise<void>;
}

/** A process that ends when this one does, and is started again when it ends by itself. */
export function childProcess(options: ChildOptions): Child {
  const { name, logFile, say } = options;
  let running: { child: ChildProcess; ended: Promise<number | null> } | undefined;
  let wanted = false;
  let pauseMs = FIRST_PAUSE_MS;
  let restart: NodeJS.Timeout | undefined;

  function launch(): void {
    const log = openLog(logFile);
    const startedAt = performance.now();
    // A process group of its own: a Ctrl-C at the terminal reaches this process alone, which stops all in order.
    const child = spawn(options.command, options.args, {
      env: options.env,
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    const { pid } = child;
    if (pid !== undefined) endsWithThisProcess(pid);
    const ended = new Promise<number | null>((resolve) => {
      const end = (how: string, status: number | null) => {
        if (pid !== undefined) hasEnded(pid);
        running = undefined;
        resolve(status);
        if (!wanted || !options.restart) return;
        if (performance.now() - startedAt > RAN_WELL_MS) pauseMs = FIRST_PAUSE_MS;
        say(`${name} ended (${how}); starting it again in ${pauseMs / 1000} s. Its log: ${logFile}`);
        restart = setTimeout(launchAgain, pauseMs);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      };
      child.once('exit', (code, signal) => end(signal ?? `status ${code}`, code));
      child.once('error', (error) => end(error.message, null));
    });
    running = { child, ended };
  }

  async function launchAgain(): Promise<void> {
    if (!wanted) return;
    launch();
    if (await becomesReady().catch(() => false)) say(`${name} is back`);
  }

  async function becomesReady(): Promise<boolean> {
    const deadline = performance.now() + options.readyWithinMs;
    while (running !== undefined && performance.now() < deadline && !options.signal?.aborted) {
      if (await options.ready()) return true;
      await delay(50);
    }
    return false;
  }

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    wanted = false;
    clearTimeout(restart);
    const current = running;
    if (current === undefined) return null;
    current.child.kill(signal);
    const killer = setTimeout(() => current.child.kill('SIGKILL'), options.stopWithinMs);
    const status = await current.ended;
    clearTimeout(killer);
    return status;
  }

  return {
    name,
    logFile,
    get pid() {
      return running?.child.pid;
    },
    async start() {
      if (wanted && running !== undefined) return;
      clearTimeout(restart);
      launch();
      if (await becomesReady()) {
        wanted = true;
        // It may have ended between the last check and now.
        if (running !== undefined) return;
        wanted = false;
      }
      const how =
        running === undefined ? 'ended at its start' : `was not ready in ${options.readyWithinMs / 1000} s`;
      await end('SIGKILL');
      throw new Problem(`${name} ${how}: ${lastWords(logFile)} (its log: ${logFile})`);
    },
    stop: () => end('SIGTERM'),
    async kill() {
      await end('SIGKILL');
    },
  };
}

function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a');
}

/** The last line that says what went wrong, else the last one. */
function lastWords(file: string): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const line = lines.findLast((line) => /"level":"(fatal|error)"/.test(line)) ?? lines.at(-1);
  return line?.slice(0, 500) || 'it wrote nothing';
}

/** What a child needs of this process's environment to run, and what a person may tell all services. */
export function baseEnvironment(): NodeJS.ProcessEnv {
  const passedOn = /^(PATH|HOME|TMPDIR|LANG|LC_.*|TZ|XDG_.*|LOG_LEVEL|OTEL_.*)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name)));
}
