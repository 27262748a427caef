import type { Clock, Instant } from '@brand-data/runtime';
import type { Random } from '@brand-data/testing/random';
import type { World } from './world.ts';

type EventKind = 'timer' | 'io';

/** A process. After a crash its timers, replies and promises never run again. */
export interface Process {
  readonly machine: Machine;
  readonly clock: Clock;
  isAlive(): boolean;
  /** Runs `event` when the machine runs, unless the process has ended by then. */
  reach(event: () => void): void;
  end(): void;
}

export interface ClockFaults {
  /** By how much the monotonic clock is too fast, as a share of the time. */
  monotonicDrift: number;
  wallDrift: number;
}

/** One computer with its own clocks. It runs one process at a time. */
export class Machine {
  readonly name: string;
  readonly #world: World;
  readonly #random: Random;
  readonly #startWallMs: number;
  readonly #drift: ClockFaults;
  /** Each machine's monotonic clock starts at a different value. */
  readonly #bootedMs: number;
  #wallOffsetMs = 0;
  #asleepMs = 0;
  #stopped: 'paused' | 'suspended' | undefined;
  #stoppedAt = 0;
  #held: { kind: EventKind; event: () => void }[] = [];

  /** @param startWallMs the true time when the world begins, in milliseconds since 1970 */
  constructor(world: World, random: Random, name: string, startWallMs: number, drift: ClockFaults) {
    this.name = name;
    this.#world = world;
    this.#random = random;
    this.#startWallMs = startWallMs;
    this.#drift = drift;
    this.#bootedMs = random.between(0, 1e7);
  }

  now(): Instant {
    const wallMs = this.#startWallMs + this.#world.now() * (1 + this.#drift.wallDrift) + this.#wallOffsetMs;
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

  /** SIGSTOP: nothing runs, but both clocks go on. */
  pause(): void {
    this.#stop('paused');
  }

  /** The machine sleeps: its monotonic clock stands still, and its wall clock goes on. */
  suspend(): void {
    this.#stop('suspended');
  }

  resume(): void {
    if (!this.#stopped) return;
    if (this.#stopped === 'suspended') this.#asleepMs += this.#world.now() - this.#stoppedAt;
    this.#stopped = undefined;
    const waiting = this.#held;
    this.#held = [];
    this.#world.note(() => `${this.name} runs again, ${waiting.length} events were waiting`);
    const order = this.#random.pick(['as they came', 'timers first', 'sockets first']);
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

  /** Runs an event that comes from outside, such as a message, once the machine runs. */
  whenRunning(kind: EventKind, event: () => void): void {
    if (this.#stopped) this.#held.push({ kind, event });
    else event();
  }

  /** Starts a process that replaces the former one. */
  boot(): Process {
    let alive = true;
    const sleepUntil = (dueMs: number, resolve: () => void): void => {
      const delayMs = (dueMs - this.#monotonicMs()) / (1 + this.#drift.monotonicDrift);
      this.#world.after(delayMs, () => {
        if (!alive) return;
        this.whenRunning('timer', () => {
          if (!alive) return;
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
      reach: (event) => {
        this.whenRunning('io', () => {
          if (alive) event();
        });
      },
      end: () => {
        alive = false;
      },
    };
  }

  #monotonicMs(): number {
    const asleepNow = this.#stopped === 'suspended' ? this.#world.now() - this.#stoppedAt : 0;
    const awakeMs = this.#world.now() - this.#asleepMs - asleepNow;
    return this.#bootedMs + awakeMs * (1 + this.#drift.monotonicDrift);
  }

  #stop(how: 'paused' | 'suspended'): void {
    if (this.#stopped) return;
    this.#stopped = how;
    this.#stoppedAt = this.#world.now();
    this.#world.note(() => `${this.name} is ${how}`);
  }
}
