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
