/** Puts an entry into a map as its newest one, and removes the oldest ones until at most `most` are left. */
export function putNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  // A Map keeps the order of insertion.
  map.delete(key);
  map.set(key, value);
  for (const [oldest] of map) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
