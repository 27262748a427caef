/** Monograms: the logos of records of which no image is known (packages/monograms/README.md). Pure. */

export { colourOf, drawMonogram, type Monogram, monogramOf, needsFont, PALETTE } from './drawing.ts';
export { lettersOf } from './letters.ts';
export { monogramImages, monogramPath, parseMonogramPath } from './paths.ts';
