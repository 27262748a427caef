import type { Form, Size } from './image.ts';

/** Draws the monogram to which a path below `monograms/` leads. Undefined if it leads to none. */
export function monogramForm(_path: string, _size?: Size): Form | undefined {
  return undefined;
}
