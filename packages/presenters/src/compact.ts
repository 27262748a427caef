/** A record before what says nothing is taken away: every key is spelled out, any may be blank. */
export type Draft<T> = T extends readonly (infer Item)[]
  ? Draft<Item>[]
  : T extends object
    ? { [K in keyof T]-?: Draft<T[K]> | undefined }
    : T;

/**
 * Removes, at every depth, fields without data (blank text, a figure that is not finite, an empty list or object) and
 * items that a list already holds. Keys and items keep their order; 0 and false are data. The draft itself must say
 * something.
 */
export function compact<T extends object>(draft: Draft<T>): T {
  return withoutBlanks(draft) as T;
}

export function isBlank(text: string): boolean {
  return text.trim() === '';
}

function withoutBlanks(value: unknown): unknown {
  if (typeof value === 'string') return isBlank(value) ? undefined : value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (Array.isArray(value)) {
    const items = new Map<string, unknown>();
    for (const item of value.map(withoutBlanks)) {
      const key = JSON.stringify(item);
      if (item !== undefined && !items.has(key)) items.set(key, item);
    }
    return items.size > 0 ? [...items.values()] : undefined;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .map(([key, field]) => [key, withoutBlanks(field)] as const)
      .filter(([, field]) => field !== undefined);
    return entries.length > 0 ? Object.fromEntries(entries) : undefined;
  }
  return value ?? undefined;
}
