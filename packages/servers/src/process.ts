import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endsWithThisProcess, hasEnded } from './orphan-reaper.ts';
import { Problem } from './problem.ts';

const LOG_BYTES = 20 * 1024 * 1024;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** If a process ran at least this long before it ended, the pause before its restart is the shortest again. */
const RAN_WELL_MS = 30_000;

export interface ChildOptions {
  /** The process's name in messages, such as "gateway-1". */
  name: string;
  command: string;
  /** A function is called at each start. */
  args: readonly string[] | (() => readonly string[]);
  /** The whole environment of the process. */
  env: NodeJS.ProcessEnv;
  /** Gets the process's output. A log file that has grown large is renamed, and kept in the same folder. */
  logFile: string;
  /** Whether the process is ready. Called every 50 ms, and should resolve within about a second. */
  ready: () => Promise<boolean>;
  readyWithinMs: number;
  /** The time between SIGTERM and SIGKILL. */
  stopWithinMs: number;
  /** Whether to restart the process if it ends by itself. The pause before a restart grows from 0.25 s to 10 s. */
  restart: boolean;
  /** Gets messages for the user, one line at a time. */
  say: (line: string) => void;
  /** If the signal is aborted during a start, the start and the process end. */
  signal?: AbortSignal | undefined;
}

/** A process of the stack. Its pid changes with a restart. */
export interface Child {
  readonly name: string;
  readonly pid: number | undefined;
  readonly logFile: string;
  /** Starts the process and resolves when it is ready. Rejects with a Problem that contains the last line of the log. */
  start(): Promise<void>;
  /**
   * Sends SIGTERM, and SIGKILL if the process does not end in time. Does not restart the process. Resolves to the exit status, or
   * to null if a signal ended the process.
   */
  stop(): Promise<number | null>;
  /** Sends SIGKILL. The process is not restarted. */
  kill(): Promise<void>;
}

/** Runs a process that ends when this process ends. With `restart`, starts the process again if it ends by itself. */
export function childProcess(options: ChildOptions): Child {
  const { name, logFile, say } = options;
  let running: { child: ChildProcess; ended: Promise<number | null> } | undefined;
  let wanted = false;
  let pauseMs = FIRST_PAUSE_MS;
  let restart: NodeJS.Timeout | undefined;

  function launch(): void {
    const log = openLog(logFile);
    const startedAt = performance.now();
    // Each child has its own process group. So a Ctrl-C at the terminal reaches only this process, which stops the children in
    // order.
    const args = typeof options.args === 'function' ? options.args() : options.args;
    const child = spawn(options.command, args, {
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
        // The process may have ended since the last check.
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

/** Returns the last line of the log that reports an error, or the last line if none does. */
function lastWords(file: string): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const line = lines.findLast((line) => /"level":"(fatal|error)"/.test(line)) ?? lines.at(-1);
  return line?.slice(0, 500) || 'it wrote nothing';
}

/** Returns the environment variables of this process that children need, and the settings that users may give to all services. */
export function baseEnvironment(): NodeJS.ProcessEnv {
  const passedOn = /^(PATH|HOME|TMPDIR|LANG|LC_.*|TZ|XDG_.*|LOG_LEVEL|OTEL_.*)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name)));
}
