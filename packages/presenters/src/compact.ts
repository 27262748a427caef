/** A record before fields without data are removed. It has every key, and any value may be blank. */
export type Draft<T> = T extends readonly (infer Item)[]
  ? Draft<Item>[]
  : T extends object
    ? { [K in keyof T]-?: Draft<T[K]> | undefined }
    : T;

/**
 * Removes fields without data and repeated items of lists, at every depth. Blank texts, figures that are not finite, and empty
 * lists and objects count as no data. 0 and false are data. Keys and items keep their order. The draft must contain some data.
 */
export function compact<T extends object>(draft: Draft<T>): T {
  return withoutBlanks(draft) as T;
}

export function isEmptyText(text: string): boolean {
  return text.trim() === '';
}

function withoutBlanks(value: unknown): unknown {
  if (typeof value === 'string') return isEmptyText(value) ? undefined : value;
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
