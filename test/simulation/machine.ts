import type { Clock, Instant } from '@brand-data/runtime';
import type { Random } from '@brand-data/testing/random';
import type { World } from './world.ts';

/** One computer with its own clocks. It runs one process at a time. */
export interface Machine {
  readonly name: string;
  now(): Instant;
  /** Sets the wall clock forward or back. */
  jumpWall(byMs: number): void;
  /** Sets the wall clock to the true time. */
  syncWall(): void;
  /** SIGSTOP: nothing runs, but both clocks go on. */
  pause(): void;
  /** The machine sleeps: its monotonic clock stands still, and its wall clock goes on. */
  suspend(): void;
  resume(): void;
  isStopped(): boolean;
  isSuspended(): boolean;
  /** Runs an event that comes from outside, such as a message, once the machine runs. */
  whenRunning(kind: EventKind, event: () => void): void;
  /** Starts a process that replaces the former one. */
  boot(): Process;
}

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

/** @param startWallMs the true time when the world begins, in milliseconds since 1970 */
export function createMachine(
  world: World,
  random: Random,
  name: string,
  startWallMs: number,
  { monotonicDrift, wallDrift }: ClockFaults,
): Machine {
  let wallOffsetMs = 0;
  let asleepMs = 0;
  let stopped: 'paused' | 'suspended' | undefined;
  let stoppedAt = 0;
  let held: { kind: EventKind; event: () => void }[] = [];
  // Each machine's monotonic clock starts at a different value.
  const bootedMs = random.between(0, 1e7);

  const monotonicMs = () => {
    const asleepNow = stopped === 'suspended' ? world.now() - stoppedAt : 0;
    return bootedMs + (world.now() - asleepMs - asleepNow) * (1 + monotonicDrift);
  };
  const now = () => ({
    monotonicMs: monotonicMs(),
    wallMs: Math.floor(startWallMs + world.now() * (1 + wallDrift) + wallOffsetMs),
  });
  const whenRunning = (kind: EventKind, event: () => void) => {
    if (stopped) held.push({ kind, event });
    else event();
  };
  const stop = (how: 'paused' | 'suspended') => {
    if (stopped) return;
    stopped = how;
    stoppedAt = world.now();
    world.note(() => `${name} is ${how}`);
  };

  const boot = (): Process => {
    let alive = true;
    const sleepUntil = (dueMs: number, resolve: () => void): void => {
      world.after((dueMs - monotonicMs()) / (1 + monotonicDrift), () => {
        if (!alive) return;
        whenRunning('timer', () => {
          if (!alive) return;
          // If the machine slept meanwhile, its monotonic clock stood still, so more time has to pass.
          if (dueMs - monotonicMs() > 0.001) sleepUntil(dueMs, resolve);
          else resolve();
        });
      });
    };
    return {
      machine,
      clock: {
        now,
        sleep: (ms) => new Promise((resolve) => sleepUntil(monotonicMs() + ms, resolve)),
      },
      isAlive: () => alive,
      reach: (event) => {
        whenRunning('io', () => {
          if (alive) event();
        });
      },
      end: () => {
        alive = false;
      },
    };
  };

  const machine: Machine = {
    name,
    now,
    jumpWall: (byMs) => {
      wallOffsetMs += byMs;
      world.note(() => `${name}'s wall clock jumps by ${(byMs / 1_000).toFixed(1)} s`);
    },
    syncWall: () => {
      wallOffsetMs = -world.now() * wallDrift;
    },
    pause: () => stop('paused'),
    suspend: () => stop('suspended'),
    resume: () => {
      if (!stopped) return;
      if (stopped === 'suspended') asleepMs += world.now() - stoppedAt;
      stopped = undefined;
      const waiting = held;
      held = [];
      world.note(() => `${name} runs again, ${waiting.length} events were waiting`);
      const order = random.pick(['as they came', 'timers first', 'sockets first']);
      const first = order === 'timers first' ? 'timer' : 'io';
      const sorted =
        order === 'as they came'
          ? waiting
          : [
              ...waiting.filter(({ kind }) => kind === first),
              ...waiting.filter(({ kind }) => kind !== first),
            ];
      for (const { kind, event } of sorted) world.after(0, () => whenRunning(kind, event));
    },
    isStopped: () => stopped !== undefined,
    isSuspended: () => stopped === 'suspended',
    whenRunning,
    boot,
  };
  return machine;
}
