import type { Clock } from '@brand-data/runtime';
import type { Random } from '@brand-data/testing/random';

/** A process. After a crash its timers, replies and promises never run again. */
export interface Process {
  readonly machine: Host;
  readonly clock: Clock;
  isAlive(): boolean;
  /** Runs `event` when the machine runs, unless the process has ended by then. */
  reach(event: () => void): void;
  end(): void;
}

/** A process's machine, as the rest of the world sees it. */
interface Host {
  readonly name: string;
  isStopped(): boolean;
  isSuspended(): boolean;
  /** Runs an event that comes from outside, such as a message, once the machine runs. */
  whenRunning(kind: EventKind, event: () => void): void;
}

export type EventKind = 'timer' | 'io';

/** The network's faults, as shares of the messages. */
export interface LinkFaults {
  lost: number;
  doubled: number;
  /** Delayed by up to a few seconds. */
  late: number;
  /** Delayed by up to some minutes. */
  veryLate: number;
}

interface Message {
  from: string;
  to: string;
  /** The process that sends the message. If its machine falls asleep, the message may stay in its buffers. */
  sender?: Process | undefined;
  arrive: () => void;
}

export const LATEST_MESSAGE_MS = 180_000;
export const NO_LINK_FAULTS: LinkFaults = { lost: 0, doubled: 0, late: 0, veryLate: 0 };

/**
 * The time, the chance and the network of everything in a world. Time is virtual, in milliseconds from 0. One queue holds all events.
 * Each event runs to its last microtask before the next one starts.
 */
export class World {
  readonly random: Random;
  /** The true time when the world begins, in milliseconds since 1970. */
  readonly startWallMs: number;
  readonly history: string[] = [];
  linkFaults = NO_LINK_FAULTS;
  readonly #keepsHistory: boolean;
  /** The next event is the last of the list. */
  readonly #queue: { at: number; event: () => void }[] = [];
  readonly #cuts = new Set<string>();
  #nowMs = 0;

  constructor(random: Random, startWallMs: number, { keepsHistory = false } = {}) {
    this.random = random;
    this.startWallMs = startWallMs;
    this.#keepsHistory = keepsHistory;
  }

  now(): number {
    return this.#nowMs;
  }

  trueWallMs(): number {
    return this.startWallMs + this.#nowMs;
  }

  /** Runs `event` after a delay. Of two events at the same time, the one that was added first runs first. */
  after(delayMs: number, event: () => void): void {
    const at = this.#nowMs + Math.max(0, delayMs);
    let low = 0;
    let high = this.#queue.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#queue[middle]?.at ?? 0) > at) low = middle + 1;
      else high = middle;
    }
    this.#queue.splice(low, 0, { at, event });
  }

  /** Runs all events up to this time. Rejects with the error that an event throws. */
  runUntil(atMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = () => {
        const next = this.#queue.at(-1);
        if (!next || next.at > atMs) {
          this.#nowMs = atMs;
          resolve();
          return;
        }
        this.#queue.pop();
        this.#nowMs = next.at;
        try {
          next.event();
        } catch (error) {
          reject(error);
          return;
        }
        // Node runs a `nextTick` callback only after all microtasks. By then, everything that the event has started is finished.
        queueMicrotask(() => process.nextTick(step));
      };
      process.nextTick(step);
    });
  }

  /** Adds a line to the history, if the history is kept. */
  note(line: () => string): void {
    if (this.#keepsHistory) this.history.push(`${(this.#nowMs / 1_000).toFixed(3).padStart(9)} s  ${line()}`);
  }

  /** From now on, messages from one place to another are lost. `*` is every place. */
  cut(from: string, to: string): void {
    this.#cuts.add(`${from}>${to}`);
  }

  mend(from: string, to: string): void {
    this.#cuts.delete(`${from}>${to}`);
  }

  isCut(from: string, to: string): boolean {
    const cuts = this.#cuts;
    return cuts.size > 0 && [`${from}>${to}`, `${from}>*`, `*>${to}`].some((link) => cuts.has(link));
  }

  /** Sends one message between two places. `arrive` may run never, once or twice. */
  send({ from, to, sender, arrive }: Message): void {
    const { random } = this;
    const { lost, doubled, late, veryLate } = this.linkFaults;
    if (this.isCut(from, to) || random.chance(lost)) return;
    const copies = random.chance(doubled) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const isVeryLate = random.chance(veryLate);
      const delayMs =
        random.between(0.2, 2) +
        (random.chance(late) ? random.between(0, 4_000) : 0) +
        (isVeryLate ? random.between(0, LATEST_MESSAGE_MS) : 0);
      this.after(delayMs, () => {
        if (sender?.isAlive() && sender.machine.isSuspended()) sender.machine.whenRunning('io', arrive);
        else if (!this.isCut(from, to)) arrive();
      });
    }
  }

  /**
   * Sends a request of a process to a server. Rejects with `late` if no answer arrives in time by the clock of the process, or if there
   * is no server.
   *
   * @param server its place, or its process
   * @param perform gets the request. It replies with an answer or an error, or never
   */
  ask<Answer>(
    from: Process,
    server: string | Process | undefined,
    withinMs: number,
    late: () => Error,
    perform: (reply: (answer: Answer | Error) => void) => void,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let ended = false;
      const end = (answer: Answer | Error) => {
        ended = true;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      const fail = () => {
        if (!ended) end(late());
      };
      void from.clock.sleep(withinMs).then(fail);
      if (server === undefined) {
        from.reach(fail);
        return;
      }
      const { name } = from.machine;
      const [to, sender] = typeof server === 'string' ? [server] : [server.machine.name, server];
      const reply = (answer: Answer | Error) =>
        this.send({ from: to, to: name, sender, arrive: () => from.reach(() => end(answer)) });
      this.send({ from: name, to, sender: from, arrive: () => perform(reply) });
    });
  }
}
