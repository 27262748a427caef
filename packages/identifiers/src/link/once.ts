/** Returns a function that computes the value at its first call. */
export function once<T>(derive: () => T): () => T {
  let derived: { value: T } | undefined;
  return () => {
    derived ??= { value: derive() };
    return derived.value;
  };
}
