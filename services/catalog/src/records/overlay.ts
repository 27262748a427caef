import { Brand, type Override } from '@brand-data/contracts';
import { fieldOf, hasData, withField } from '@brand-data/records';

/**
 * Fields of sources that are used although the operator has set them. A source's name still finds the record, and its listings say
 * which main listing its figures describe.
 */
const STILL_USED: ReadonlySet<string> = new Set(['name', 'listings']);

/** Returns a source's brand without the fields that the operator has set, so that they have no effect on other fields. */
export function withoutOverridden(brand: Brand, overrides: readonly Override[]): Brand {
  const hidden = overrides.filter(({ field }) => !STILL_USED.has(field) && hasData(fieldOf(brand, field)));
  if (hidden.length === 0) return brand;
  return Brand.fromPartial(
    hidden.reduce<Partial<Brand>>((rest, { field }) => withField(rest, field, undefined), brand),
  );
}

/** Returns a message, in the shape of a Brand, with the operator's values of those of its fields for which `isWanted`. */
export function overlaid<T extends object>(
  message: T,
  overrides: readonly Override[],
  isWanted: (field: string) => boolean,
): T {
  return overrides
    .filter(({ field }) => isWanted(field))
    .reduce((shown, override) => withField(shown, override.field, setValueOf(override)), message);
}

/** Undefined if the operator has decided that the field has no value. */
export function setValueOf({ field, value }: Override): unknown {
  return value === undefined ? undefined : fieldOf(value, field);
}
