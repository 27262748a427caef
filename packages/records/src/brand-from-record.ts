import { Brand, BrandType } from '@brand-data/contracts';
import { remembered } from '@brand-data/identifiers';
import type { BrandRecord } from './record-schema.ts';

const TYPES = {
  stock: BrandType.STOCK,
  brand: BrandType.BRAND,
  superinvestor: BrandType.SUPERINVESTOR,
  other_security: BrandType.OTHER_SECURITY,
} as const;

/** More than there are fields. Records with unknown fields are refused before. */
const MOST_NAMES = 1_000;
/** Fields whose names differ by more than their case. A record's name is that of the picture, a Brand's that of its path. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ['bannerPath', 'banner'],
  ['exchangeLogoPath', 'exchange_logo'],
  ['logoPath', 'logo'],
]);
/** Omits `logo`, because a record's `logo` is a path only in `manager`. brandFromRecord renames it there. */
const BRAND_FIELDS: ReadonlyMap<string, string> = new Map(
  [...PATHS].flatMap(([brandField, field]) => (field === 'logo' ? [] : [[field, brandField] as const])),
);

/** Converts the name of a Brand's field into its name in records: "percentFrom52WeekLow" is "percent_from_52_week_low". */
export const recordFieldName = remembered(
  (name) => PATHS.get(name) ?? name.replace(/[A-Z]|\d+/g, (match) => `_${match.toLowerCase()}`),
  MOST_NAMES,
);

/** Converts the name of a record's field into its name in a Brand. */
export const brandFieldName = remembered(
  (name) => BRAND_FIELDS.get(name) ?? name.replace(/_([a-z0-9])/g, (_, first: string) => first.toUpperCase()),
  MOST_NAMES,
);

/** Converts a record into a brand. `recordFromBrand` is the inverse, but omits a `primary` that is false and a `rank` of 0. */
export function brandFromRecord({ type, manager, ...rest }: BrandRecord): Brand {
  const { logo, ...facts } = manager ?? {};
  return Brand.fromPartial({
    ...(renamed(rest, brandFieldName) as Omit<Brand, 'type' | 'manager'>),
    ...(type !== undefined && { type: TYPES[type] }),
    ...(manager && {
      manager: { ...(renamed(facts, brandFieldName) as object), ...(logo && { logoPath: logo }) },
    }),
  });
}

/** Converts a brand into a record, without empty fields and a rank of 0. A listing that is not primary has no `primary`. */
export function recordFromBrand({ type, rank, ...rest }: Brand): Record<string, unknown> {
  const typeName = Object.entries(TYPES).find(([, value]) => value === type)?.[0];
  const listings = rest.listings.map(({ primary, ...listing }) =>
    primary ? { ...listing, primary } : listing,
  );
  const { id, manager, ...fields } = recordFields({
    ...rest,
    rank: rank === 0 ? undefined : rank,
    listings,
  });
  return {
    ...(id !== undefined && { id }),
    ...(typeName !== undefined && { type: typeName }),
    ...fields,
    ...(manager !== undefined && { manager }),
  };
}

/** Returns a message with the field names of records, at every depth, without empty fields. */
export function recordFields(message: object): Record<string, unknown> {
  return renamed(message, recordFieldName) as Record<string, unknown>;
}

/** Returns a copy with renamed fields and without empty fields, at every depth. */
function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const name in value) {
    const field = renamed((value as Record<string, unknown>)[name], rename);
    if (!isEmpty(field)) copy[rename(name)] = field;
  }
  return copy;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === '') return true;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}
