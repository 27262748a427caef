/** Gathers items into batches, none of which is empty. A batch ends with the item that reaches a bound. */
export async function* inBatches<Item>(
  source: AsyncIterable<Item>,
  bounds: { items: number; bytes?: number; bytesOf?(item: Item): number },
): AsyncGenerator<Item[]> {
  const { items, bytes = Number.POSITIVE_INFINITY, bytesOf = () => 0 } = bounds;
  let batch: Item[] = [];
  let held = 0;
  for await (const item of source) {
    batch.push(item);
    held += bytesOf(item);
    if (batch.length < items && held < bytes) continue;
    yield batch;
    batch = [];
    held = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Batches by key. For each key one batch runs at a time. Items that are added meanwhile form the next batch. */
export interface KeyedBatches<Item, Result> {
  /** Resolves to the result of the item's batch. Rejects at once if the next batch is full. */
  add(key: string, item: Item): Promise<Result>;
}

/** @param run handles one batch. If it rejects, the next batch runs all the same */
export function createKeyedBatches<Item, Result>(
  run: (items: readonly Item[]) => Promise<Result>,
  { most, tooMany }: { most: number; tooMany: () => Error },
): KeyedBatches<Item, Result> {
  const newest = new Map<string, { items: Item[]; isWaiting: boolean; done: Promise<Result> }>();
  return {
    // Not an async function, because it would cost each item a promise and three turns of the queue of microtasks.
    add: (key, item) => {
      const before = newest.get(key);
      if (before?.isWaiting) {
        if (before.items.length >= most) return Promise.reject(tooMany());
        before.items.push(item);
        return before.done;
      }
      const start = (): Promise<Result> => {
        batch.isWaiting = false;
        return run(batch.items);
      };
      const done: Promise<Result> = (before?.done ?? Promise.resolve()).then(start, start);
      const batch = { items: [item], isWaiting: true, done };
      newest.set(key, batch);
      const forget = () => {
        if (newest.get(key) === batch) newest.delete(key);
      };
      done.then(forget, forget);
      return done;
    },
  };
}
