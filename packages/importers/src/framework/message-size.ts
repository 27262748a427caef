/** About how many bytes a message takes when it is sent, rather too many; by a walk, which is cheaper than to encode it. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 4;
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 12;
  let weight = 8;
  if (Array.isArray(value)) for (const item of value) weight += weightOf(item);
  else for (const name in value) weight += weightOf((value as Record<string, unknown>)[name]);
  return weight;
}
