/** Monograms: the logos of records of which no image is known (packages/monograms/README.md). Pure. */

import { colourOf, type Monogram } from './drawing.ts';
import { lettersOf } from './letters.ts';

export { colourOf, drawMonogram, type Monogram, needsFont, PALETTE } from './drawing.ts';
export { lettersOf } from './letters.ts';
export { monogramImages, monogramPath, parseMonogramPath } from './paths.ts';

/**
 * Returns the monogram of a record: letters of its name, on a colour that follows from its id.
 *
 * @param record.name without legal forms: their initials would become letters
 */
export function monogramOf(record: { id: string; name: string; isPerson?: boolean }): Monogram {
  return { letters: lettersOf(record.name, record), colour: colourOf(record.id) };
}
