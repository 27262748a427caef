import { ProblemError } from '../answers/problem.ts';
import type { ParsedQuery } from '../auth/caller.ts';

/** Returns the value of a parameter from a closed set, or undefined if it is left out. Throws ProblemError for any other value. */
export function choiceFrom<Value extends string>(
  query: ParsedQuery,
  name: string,
  values: readonly Value[],
): Value | undefined {
  const given = query[name];
  if (given === undefined) return undefined;
  const value = values.find((each) => each === given);
  if (value !== undefined) return value;
  throw new ProblemError('parameter_invalid', `Give \`${name}\` once, as one of ${values.join(', ')}.`);
}

/** What the query of an image's URL may ask for, as images reads it. */
export const IMAGE_CHOICES = {
  size: [32, 64, 128, 256, 512],
  format: ['svg', 'png', 'webp', 'avif'],
  theme: ['light', 'dark'],
} as const;

/** What the query of a call for an image asks for. */
export interface ImageWishes {
  /** The query of the image's URL: "size=64&theme=dark". */
  readonly query: string;
  /** Whether an identifier that finds nothing gets a monogram of itself. */
  readonly monogram: boolean;
}

const IMAGE_PARAMETERS = Object.entries(IMAGE_CHOICES).map(([name, values]): [string, string[]] => [
  name,
  values.map(String),
]);
const FALLBACKS = ['404', 'monogram'];

/** Throws ProblemError unless each parameter is left out or has one of its values. */
export function imageWishesFrom(query: ParsedQuery): ImageWishes {
  let own = '';
  for (const [name, values] of IMAGE_PARAMETERS) {
    const value = choiceFrom(query, name, values);
    if (value !== undefined) own += `${own && '&'}${name}=${value}`;
  }
  return { query: own, monogram: choiceFrom(query, 'fallback', FALLBACKS) === 'monogram' };
}
