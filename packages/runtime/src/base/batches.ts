/** Bounds of a batch. A batch ends with the item that reaches one of them. */
interface BatchBounds<Item> {
  items: number;
  bytes?: number;
  bytesOf?(item: Item): number;
}

/** Gathers items into batches, none of which is empty. */
export async function* inBatches<Item>(
  source: AsyncIterable<Item>,
  { items, bytes = Number.POSITIVE_INFINITY, bytesOf = () => 0 }: BatchBounds<Item>,
): AsyncGenerator<Item[]> {
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
