import { isSlug } from './validation.ts';

/** The source of the fields that the operator has set. */
export const OPERATOR = 'operator';
/** Instead of a source's name: no source states the field, so the catalogue has derived it. */
export const DERIVED = 'derived';

/** Names that no import may use, with what they mean. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  [OPERATOR, 'it is the source of what bds set has set'],
  [DERIVED, 'it marks fields that no source states'],
]);

/** Returns why an import cannot have a source of this name. Undefined if it can. */
export function problemOfSource(name: string): string | undefined {
  const meaning = RESERVED.get(name);
  if (meaning !== undefined) return `source must not be "${name}": ${meaning}`;
  return isSlug(name) ? undefined : 'source must be a lower-case slug, such as "simple-icons"';
}
