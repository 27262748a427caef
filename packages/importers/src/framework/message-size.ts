/** Estimates how many bytes a message takes when encoded, rather too many than too few. Cheaper than encoding it. */
export function messageSizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 4;
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 12;
  let size = 8;
  if (Array.isArray(value)) for (const item of value) size += messageSizeOf(item);
  else for (const name in value) size += messageSizeOf((value as Record<string, unknown>)[name]);
  return size;
}
