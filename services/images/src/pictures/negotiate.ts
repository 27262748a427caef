import { FORMATS, type Format } from '../image/image.ts';

/** If a caller wants several formats equally, it gets the first. Drawing a WebP takes half as long as drawing an AVIF. */
const PREFERRED: readonly Format[] = ['svg', 'webp', 'avif', 'png'];

/** For a caller that accepts formats without naming them, and may know only old ones. */
const OLDEST_FIRST: readonly Format[] = ['png', 'webp', 'avif', 'svg'];

export const MEDIA_TYPES: Record<Format, string> = {
  svg: 'image/svg+xml',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
};

/**
 * Returns the format in which to answer a request whose path names none (RFC 9110 12.5.1). Of the formats that the caller wants
 * most, it is one that Accept names, or else the stored one. A caller that accepts none of them gets the stored one too. A raster
 * cannot be answered as SVG.
 */
export function negotiateFormat(stored: Format, accept: string | undefined): Format {
  const ranges = rangesOf(accept ?? '*/*');
  const choices = FORMATS.filter((format) => format !== 'svg' || stored === 'svg').map((format) => ({
    format,
    ...wishFor(MEDIA_TYPES[format], ranges),
  }));
  const most = Math.max(...choices.map(({ quality }) => quality));
  if (most === 0) return stored;
  const wanted = choices.filter(({ quality }) => quality === most);
  const named = wanted.filter(({ isNamed }) => isNamed);
  const [choosable, order] = named.length > 0 ? [named, PREFERRED] : [wanted, [stored, ...OLDEST_FIRST]];
  return order.find((format) => choosable.some((choice) => choice.format === format)) ?? stored;
}

/**
 * A range of Accept. The library negotiator, with which the encoding is chosen, would rank types of equal quality by their place in
 * Accept. Browsers name AVIF first there, and would get every SVG drawn as AVIF.
 */
interface Range {
  type: string;
  /** From 0, not acceptable, to 1. A malformed quality is 0. */
  quality: number;
}

function rangesOf(accept: string): Range[] {
  return accept.split(',').map((entry) => {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const given = parameters.flatMap((parameter) => /^q\s*=\s*(.*)$/.exec(parameter)?.[1] ?? [])[0] ?? '1';
    return { type, quality: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(given) ? Number(given) : 0 };
  });
}

/** Returns the quality of the most specific range that the type falls into. */
function wishFor(type: string, ranges: readonly Range[]): { quality: number; isNamed: boolean } {
  const rangeOf = (wanted: string) => ranges.find((range) => range.type === wanted);
  const named = rangeOf(type);
  const range = named ?? rangeOf('image/*') ?? rangeOf('*/*');
  return { quality: range?.quality ?? 0, isNamed: named !== undefined };
}
