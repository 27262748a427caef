import { Brand, BrandType } from '@brand-data/contracts';
import type { BrandRecord } from './record-schema.ts';

const TYPES = {
  stock: BrandType.STOCK,
  brand: BrandType.BRAND,
  superinvestor: BrandType.SUPERINVESTOR,
} as const;

/** Fields whose names differ by more than their case: a record names the picture, a Brand its path. */
const PATHS = { banner: 'bannerPath', exchangeLogo: 'exchangeLogoPath' } as const;

/** Nothing of a record is lost: `recordFromBrand` gives it back, but for a `primary` that is false. */
export function brandFromRecord({ type, manager, ...rest }: BrandRecord): Brand {
  const { logo, ...facts } = manager ?? {};
  return Brand.fromPartial({
    ...(renamed(rest, brandName) as Omit<Brand, 'type' | 'manager'>),
    type: TYPES[type],
    ...(manager && {
      manager: { ...(renamed(facts, brandName) as object), ...(logo && { logoPath: logo }) },
    }),
  });
}

/** A brand as a record, without its empty fields; a listing that is not `primary` has no such field. */
export function recordFromBrand({ type, manager, ...rest }: Brand): Record<string, unknown> {
  const { logoPath, ...facts } = manager ?? {};
  const typeName = Object.entries(TYPES).find(([, value]) => value === type)?.[0];
  const listings = rest.listings.map(({ primary, ...listing }) =>
    primary ? { ...listing, primary } : listing,
  );
  const { id, ...fields } = renamed({ ...rest, listings }, recordName) as { id: string };
  return {
    id,
    type: typeName,
    ...fields,
    ...(manager && {
      manager: { ...(renamed(facts, recordName) as object), ...(logoPath && { logo: logoPath }) },
    }),
  };
}

/** A copy whose fields have other names, at every depth, and which has no empty ones. */
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

const brandName = cached((name) => {
  const camelCase = name.replace(/_([a-z0-9])/g, (_, first: string) => first.toUpperCase());
  return new Map<string, string>(Object.entries(PATHS)).get(camelCase) ?? camelCase;
});

const recordName = cached((name) => {
  const known = Object.entries(PATHS).find(([, path]) => path === name)?.[0] ?? name;
  return known.replace(/[A-Z]|\d+/g, (match) => `_${match.toLowerCase()}`);
});

/** Caches the results. There are only as many names as fields: records with other names were refused before. */
function cached(rename: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    let result = known.get(name);
    if (result === undefined) {
      result = rename(name);
      known.set(name, result);
    }
    return result;
  };
}
