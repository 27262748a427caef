const AT_ONCE = 20;

/** Does the work for each item, at most 20 at once, and resolves to the results in the order of the items. */
export async function forAll<T, Result>(
  items: readonly T[],
  work: (item: T) => Promise<Result>,
): Promise<Awaited<Result>[]> {
  const results: Awaited<Result>[] = [];
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
