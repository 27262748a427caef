/**
 * Virtual time in milliseconds, starting at 0. One queue holds all events. Each event runs to its last microtask before the
 * next one starts.
 */
export interface World {
  now(): number;
  /** Runs `event` after a delay. Of two events at the same time, the one that was added first runs first. */
  after(delayMs: number, event: () => void): void;
  /** Runs all events up to this time. Rejects with the error that an event throws. */
  runUntil(atMs: number): Promise<void>;
  /** Adds a line to the history, if the history is kept. */
  note(line: () => string): void;
  readonly history: string[];
}

interface Planned {
  at: number;
  order: number;
  event: () => void;
}

export function createWorld({ keepsHistory }: { keepsHistory: boolean }): World {
  const queue: Planned[] = [];
  const history: string[] = [];
  let order = 0;
  let nowMs = 0;

  return {
    now: () => nowMs,
    after: (delayMs, event) => {
      order += 1;
      push(queue, { at: nowMs + Math.max(0, delayMs), order, event });
    },
    runUntil: (atMs) =>
      new Promise((resolve, reject) => {
        const step = () => {
          const next = queue[0];
          if (!next || next.at > atMs) {
            nowMs = atMs;
            resolve();
            return;
          }
          pop(queue);
          nowMs = next.at;
          try {
            next.event();
          } catch (error) {
            reject(error);
            return;
          }
          // Node runs a `nextTick` callback only after all microtasks. By then, everything that the event has started is
          // finished.
          queueMicrotask(() => process.nextTick(step));
        };
        process.nextTick(step);
      }),
    note: (line) => {
      if (keepsHistory) history.push(`${(nowMs / 1_000).toFixed(3).padStart(9)} s  ${line()}`);
    },
    history,
  };
}

function isBefore(a: Planned, b: Planned): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Planned[], item: Planned): void {
  let at = heap.length;
  heap.push(item);
  while (at > 0) {
    const parentAt = (at - 1) >> 1;
    const parent = heap[parentAt];
    if (!parent || !isBefore(item, parent)) break;
    heap[at] = parent;
    at = parentAt;
  }
  heap[at] = item;
}

function pop(heap: Planned[]): void {
  const item = heap.pop();
  if (!item || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let childAt = 2 * at + 1;
    const left = heap[childAt];
    const right = heap[childAt + 1];
    if (!left) break;
    const child = right && isBefore(right, left) ? right : left;
    if (child === right) childAt += 1;
    if (!isBefore(child, item)) break;
    heap[at] = child;
    at = childAt;
  }
  heap[at] = item;
}
