/** All items of a list that a service answers in pages. `read` gets `next` of the page before, first an empty text. */
export async function* pages<Item>(
  read: (after: string) => Promise<{ items: readonly Item[]; next: string }>,
): AsyncGenerator<readonly Item[]> {
  let after = '';
  do {
    const { items, next } = await read(after);
    yield items;
    after = next;
  } while (after !== '');
}
