import { drawMonogram, parseMonogramPath } from '@brand-data/monograms';
import type { Form, Size } from './image.ts';

const SIDE = 512;

/** Draws the monogram to which a path below `monograms/` leads. Undefined if it leads to none. */
export function monogramForm(path: string, size: Size = SIDE): Form | undefined {
  const monogram = parseMonogramPath(`monograms/${path}`);
  if (!monogram) return undefined;
  const bytes = Buffer.from(drawMonogram(monogram, size));
  return { format: 'svg', width: size, height: size, bytes };
}
