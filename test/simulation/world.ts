/** Virtual time, in milliseconds from 0: one queue of events, run one after the other, each to its last microtask. */
export interface World {
  now(): number;
  /** Runs `event` after a delay; of two at the same moment, the one that was planned first. */
  after(delayMs: number, event: () => void): void;
  /** Lets time pass up to this moment. Rejects with what an event throws. */
  runUntil(atMs: number): Promise<void>;
  /** A line of the history, which is kept only when it is to be read. */
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
          // Node turns to the next tick only when no microtask is left: all that the event has set off is done by then.
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
