import type { Instant } from '@brand-data/runtime';
import type { EventKind, Process, World } from './world.ts';

export interface ClockFaults {
  /** By how much the monotonic clock is too fast, as a share of the time. */
  monotonicDrift: number;
  wallDrift: number;
}

const EXACT_CLOCKS: ClockFaults = { monotonicDrift: 0, wallDrift: 0 };

/** One computer with its own clocks. It runs one process at a time. */
export class Machine {
  readonly name: string;
  readonly #world: World;
  readonly #drift: ClockFaults;
  /** Each machine's monotonic clock starts at a different value. */
  readonly #bootedMs: number;
  #wallOffsetMs = 0;
  #asleepMs = 0;
  #stopped: 'paused' | 'suspended' | undefined;
  #stoppedAt = 0;
  #held: { kind: EventKind; event: () => void }[] = [];

  constructor(world: World, name: string, drift = EXACT_CLOCKS) {
    this.name = name;
    this.#world = world;
    this.#drift = drift;
    this.#bootedMs = world.random.between(0, 1e7);
  }

  now(): Instant {
    const { startWallMs } = this.#world;
    const wallMs = startWallMs + this.#world.now() * (1 + this.#drift.wallDrift) + this.#wallOffsetMs;
    return { monotonicMs: this.#monotonicMs(), wallMs: Math.floor(wallMs) };
  }

  /** Sets the wall clock forward or back. */
  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
    this.#world.note(() => `${this.name}'s wall clock jumps by ${(byMs / 1_000).toFixed(1)} s`);
  }

  /** Sets the wall clock to the true time. */
  syncWall(): void {
    this.#wallOffsetMs = -this.#world.now() * this.#drift.wallDrift;
  }

  /**
   * Stops the machine until `resume`. "paused" (SIGSTOP): nothing runs, but both clocks go on. "suspended": the machine sleeps; its
   * monotonic clock stands still, and its wall clock goes on.
   */
  stop(how: 'paused' | 'suspended'): void {
    if (this.#stopped) return;
    this.#stopped = how;
    this.#stoppedAt = this.#world.now();
    this.#world.note(() => `${this.name} is ${how}`);
  }

  resume(): void {
    if (!this.#stopped) return;
    if (this.isSuspended()) this.#asleepMs += this.#world.now() - this.#stoppedAt;
    this.#stopped = undefined;
    const waiting = this.#held;
    this.#held = [];
    this.#world.note(() => `${this.name} runs again, ${waiting.length} events were waiting`);
    const order = this.#world.random.pick(['as they came', 'timers first', 'sockets first']);
    const first = order === 'timers first' ? 'timer' : 'io';
    if (order !== 'as they came') waiting.sort((a, b) => Number(b.kind === first) - Number(a.kind === first));
    for (const { kind, event } of waiting) this.#world.after(0, () => this.whenRunning(kind, event));
  }

  isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  isSuspended(): boolean {
    return this.#stopped === 'suspended';
  }

  whenRunning(kind: EventKind, event: () => void): void {
    if (this.#stopped) this.#held.push({ kind, event });
    else event();
  }

  /** Starts a process that replaces the former one. */
  boot(): Process {
    let alive = true;
    const runs = (kind: EventKind, event: () => void) =>
      this.whenRunning(kind, () => {
        if (alive) event();
      });
    const sleepUntil = (dueMs: number, resolve: () => void): void => {
      const delayMs = (dueMs - this.#monotonicMs()) / (1 + this.#drift.monotonicDrift);
      this.#world.after(delayMs, () => {
        if (!alive) return;
        runs('timer', () => {
          // If the machine slept meanwhile, its monotonic clock stood still, so more time has to pass.
          if (dueMs - this.#monotonicMs() > 0.001) sleepUntil(dueMs, resolve);
          else resolve();
        });
      });
    };
    return {
      machine: this,
      clock: {
        now: () => this.now(),
        sleep: (ms) => new Promise((resolve) => sleepUntil(this.#monotonicMs() + ms, resolve)),
      },
      isAlive: () => alive,
      reach: (event) => runs('io', event),
      end: () => {
        alive = false;
      },
    };
  }

  #monotonicMs(): number {
    const asleepNow = this.isSuspended() ? this.#world.now() - this.#stoppedAt : 0;
    const awakeMs = this.#world.now() - this.#asleepMs - asleepNow;
    return this.#bootedMs + awakeMs * (1 + this.#drift.monotonicDrift);
  }
}
