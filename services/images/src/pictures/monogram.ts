import { drawMonogram, needsFont, parseMonogramPath } from '@brand-data/monograms';
import type { Form, Format, Size } from '../image/image.ts';

const SIDE = 512;

/**
 * Draws the monogram to which a path below `monograms/` leads. Undefined if it leads to none. A raster shows a sign in place of
 * letters that need a font, because the workers' fonts have no letters of these scripts.
 *
 * @param path without its extension; one that still has an extension leads to no monogram
 * @param options.format what the form will be sent as; the form itself is an SVG
 */
export function monogramForm(
  path: string,
  { format, size = SIDE }: { format: Format; size?: Size | undefined },
): Form | undefined {
  const monogram = parseMonogramPath(`monograms/${path}.svg`);
  if (!monogram) return undefined;
  const isSvg = format === 'svg';
  const side = isSvg ? size : SIDE;
  const shown = !isSvg && needsFont(monogram) ? { ...monogram, letters: '' } : monogram;
  return { format: 'svg', width: side, height: side, bytes: Buffer.from(drawMonogram(shown, side)) };
}
