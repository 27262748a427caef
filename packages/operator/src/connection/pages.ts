/** A part of a list that a service answers in pages. */
interface Page<Item> {
  items: readonly Item[];
  /** Where the next page begins. Empty: there is none. */
  next: string;
}

/** Reads the pages of a list, until there is no further item or `limit` items are read. */
export async function readPages<Item>(
  { limit = Number.POSITIVE_INFINITY, after = '', pageSize = 0 },
  read: (page: { limit: number; after: string }) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const items: Item[] = [];
  let next = after;
  do {
    const page = await read({ limit: Math.min(limit - items.length, pageSize), after: next });
    items.push(...page.items);
    next = page.next;
  } while (next !== '' && items.length < limit);
  return { items, next };
}
