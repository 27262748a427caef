/** Checks whether both sets have values, but none in common. */
export function areDisjoint<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean {
  return a.size > 0 && b.size > 0 && !hasCommon(a, b);
}

export function hasCommon<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean {
  for (const value of a) if (b.has(value)) return true;
  return false;
}
