import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endsWithThisProcess, hasEnded } from './orphan-reaper.ts';

/** An error that the user can correct. The message is one line that says what to do. */
export class Problem extends Error {
  override readonly name = 'Problem';
}

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
  /** Whether to restart the process if it ends by itself, after a pause that grows from 0.25 s to 10 s. By default not. */
  restart?: boolean | undefined;
  /** Gets messages for the user, such as about restarts, one line at a time. */
  say?: ((line: string) => void) | undefined;
  /** If the signal is aborted during a start, the start and the process end. */
  signal?: AbortSignal | undefined;
}

/** The options of every kind of process. */
export type SharedOptions = Pick<ChildOptions, 'name' | 'logFile' | 'restart' | 'say' | 'signal'>;

interface Running {
  child: ChildProcess;
  /** Resolves as `stop` does. */
  ended: Promise<number | null>;
}

/** A process that ends when this process ends. With `restart`, it is started again if it ends by itself, with another pid. */
export class Child {
  readonly name: string;
  readonly logFile: string;
  readonly #options: ChildOptions;
  #running: Running | undefined;
  /** Whether the process has become ready and has not been stopped. */
  #isWanted = false;
  #pauseMs = FIRST_PAUSE_MS;
  #restart: NodeJS.Timeout | undefined;

  constructor(options: ChildOptions) {
    this.name = options.name;
    this.logFile = options.logFile;
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#running?.child.pid;
  }

  /** Starts the process and resolves when it is ready. Rejects with a Problem that contains the last line of the log. */
  async start(): Promise<void> {
    if (this.#isWanted && this.#running !== undefined) return;
    clearTimeout(this.#restart);
    this.#launch();
    if (await this.#becomesReady()) {
      this.#isWanted = true;
      // The process may have ended since the last check.
      if (this.#running !== undefined) return;
      this.#isWanted = false;
    }
    const { readyWithinMs } = this.#options;
    const how =
      this.#running === undefined ? 'ended at its start' : `was not ready in ${readyWithinMs / 1000} s`;
    await this.#end('SIGKILL');
    throw new Problem(`${this.name} ${how}: ${lastWords(this.logFile)} (its log: ${this.logFile})`);
  }

  /**
   * Sends SIGTERM, and SIGKILL if the process does not end in time. Does not restart the process. Resolves to the exit status, or
   * to null if a signal ended the process.
   */
  stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Sends SIGKILL. The process is not restarted. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  #launch(): void {
    const { command, args, env } = this.#options;
    const log = openLog(this.logFile);
    const startedAt = performance.now();
    // Each child has its own process group. A Ctrl-C at the terminal then reaches only this process, which stops the children in
    // order.
    const child = spawn(command, typeof args === 'function' ? args() : args, {
      env,
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    const { pid } = child;
    if (pid !== undefined) endsWithThisProcess(pid);
    const ended = new Promise<number | null>((resolve) => {
      const end = (how: string, status: number | null) => {
        if (pid !== undefined) hasEnded(pid);
        this.#running = undefined;
        resolve(status);
        this.#restartLater(how, performance.now() - startedAt);
      };
      child.once('exit', (code, signal) => end(signal ?? `status ${code}`, code));
      child.once('error', (error) => end(error.message, null));
    });
    this.#running = { child, ended };
  }

  #restartLater(how: string, ranMs: number): void {
    const { restart, say } = this.#options;
    if (!this.#isWanted || !restart) return;
    if (ranMs > RAN_WELL_MS) this.#pauseMs = FIRST_PAUSE_MS;
    const pause = `${this.#pauseMs / 1000} s`;
    say?.(`${this.name} ended (${how}); starting it again in ${pause}. Its log: ${this.logFile}`);
    this.#restart = setTimeout(() => this.#launchAgain(), this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  async #launchAgain(): Promise<void> {
    if (!this.#isWanted) return;
    this.#launch();
    if (await this.#becomesReady().catch(() => false)) this.#options.say?.(`${this.name} is back`);
  }

  async #becomesReady(): Promise<boolean> {
    const { ready, readyWithinMs, signal } = this.#options;
    const deadline = performance.now() + readyWithinMs;
    while (this.#running !== undefined && performance.now() < deadline && !signal?.aborted) {
      if (await ready()) return true;
      await delay(50);
    }
    return false;
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    this.#isWanted = false;
    clearTimeout(this.#restart);
    const current = this.#running;
    if (current === undefined) return null;
    current.child.kill(signal);
    const killer = setTimeout(() => current.child.kill('SIGKILL'), this.#options.stopWithinMs);
    const status = await current.ended;
    clearTimeout(killer);
    return status;
  }
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
