import { isDeepStrictEqual } from 'node:util';
import { type Brand, ImageKind, type PutImageResponse } from '@brand-data/contracts';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { brandFieldName, brandFromRecord, recordFromBrand } from './brand-from-record.ts';
import { BrandRecord, errorsOf } from './record-schema.ts';

/** Fields that belong to a source record and not to the company. */
const NOT_SETTABLE: ReadonlySet<string> = new Set(['id', 'sources', 'derived_fields', 'has_namesakes']);
/** Groups that can also be set as a whole. All other groups are only set field by field. */
const WHOLE_GROUPS: ReadonlySet<string> = new Set([
  'company.headquarters',
  'images.logo',
  'images.stock_logo',
]);
/** A surrogate that JSON.stringify has escaped, because it is only half of a character. */
const HALF_CHARACTER = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** The fields of a record that can be set one by one, by their dotted names, with the schemas of their values. */
export const SETTABLE_FIELDS: ReadonlyMap<string, TSchema> = new Map(schemasOf('', BrandRecord));

/**
 * What the operator decides about a whole record, in the place of a field: no look-up finds the record. It has no value, and records
 * do not have it.
 */
export const SUPPRESSED = 'suppressed';
/** What the operator decides about source records, in the same way: they are one company. */
export const JOINED = 'joined';
/** The first source record is of no company with the others. */
export const SEPARATED = 'separated';

const partialRecord = Compile(Type.Partial(BrandRecord));

function schemasOf(path: string, schema: TSchema): [string, TSchema][] {
  const fields = Object.entries((schema as { properties?: Record<string, TSchema> }).properties ?? {});
  return fields.flatMap(([name, field]): [string, TSchema][] => {
    const below = path === '' ? name : `${path}.${name}`;
    if (NOT_SETTABLE.has(below)) return [];
    if (!('properties' in field)) return [[below, field]];
    const isWhole = WHOLE_GROUPS.has(below);
    const inside = isWhole && path === 'images' ? [] : schemasOf(below, field);
    return isWhole ? [[below, field], ...inside] : inside;
  });
}

/**
 * Returns a brand that holds one of SETTABLE_FIELDS alone, with its value as in a record: "Ada Lovelace" or ["EU", "US"]. The
 * problem of a value that breaks the schema names the field and a remedy. problemsOf finds further ones, such as check digits.
 */
export function brandOfField(field: string, value: unknown): { brand: Brand } | { problem: string } {
  const record = field
    .split('.')
    .reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Partial<BrandRecord>;
  if (!partialRecord.Check(record))
    return { problem: errorsOf(partialRecord, record)[0] ?? `${field} is not what a record may hold` };
  if (HALF_CHARACTER.test(JSON.stringify(value)))
    return { problem: `${field} holds half a character (\\ud800 to \\udfff)` };
  return { brand: brandFromRecord(record as BrandRecord) };
}

/** Returns the value of a field in a brand, or in an equally shaped message. Undefined or an empty value if there is no data. */
export function fieldOf(brand: object, field: string): unknown {
  return pathOf(field).reduce<unknown>((at, name) => Object(at)[name], brand);
}

/** Returns the value of a field as in records. Null if there is no brand, or if the field has no value. */
export function recordValueOf(brand: Brand | undefined, field: string): unknown {
  if (brand === undefined) return null;
  const record = field.split('.').reduce<unknown>((at, name) => Object(at)[name], recordFromBrand(brand));
  // Records leave a rank of 0 out.
  return record ?? (field === 'rank' ? brand.rank : null);
}

/** Returns a copy with another value of one field. Undefined removes the field, and a group that it leaves empty. */
export function withField<T extends object>(brand: T, field: string, value: unknown): T {
  return (replaced(brand, pathOf(field), value) ?? {}) as T;
}

function replaced(message: unknown, [name = '', ...rest]: readonly string[], value: unknown): unknown {
  const { [name]: old, ...others } = Object(message) as Record<string, unknown>;
  const next = rest.length === 0 ? value : replaced(old, rest, value);
  if (next !== undefined) return { ...Object(message), [name]: next };
  return Object.values(others).some(hasData) ? others : undefined;
}

/** The fields of a record by the top-level field of a Brand that holds them. A group that has fields is none of them. */
const FIELDS_OF_BRAND = Map.groupBy(
  [...SETTABLE_FIELDS.keys()].filter((field, _, all) => !all.some((other) => other.startsWith(`${field}.`))),
  (field) => pathOf(field)[0] ?? field,
);

/** Returns the dotted names of the fields in which two brands differ. What both lack is no difference. */
export function changedFields(a: Brand, b: Brand): string[] {
  const isEqual = (one: unknown, other: unknown) =>
    isDeepStrictEqual(one, other) || !(hasData(one) || hasData(other));
  return [...FIELDS_OF_BRAND].flatMap(([name, fields]) =>
    isEqual(a[name as keyof Brand], b[name as keyof Brand])
      ? []
      : fields.filter((field) => !isEqual(fieldOf(a, field), fieldOf(b, field))),
  );
}

/** Checks whether there is data at any depth. `0` and `false` are data, blank text is not. */
export function hasData(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'string') return value.trim() !== '';
  return typeof value !== 'object' || Object.values(value).some(hasData);
}

/** Returns the names in a Brand: ["stock", "percentFrom52WeekLow"]. */
function pathOf(field: string): string[] {
  return field === 'manager.logo' ? ['manager', 'logoPath'] : field.split('.').map(brandFieldName);
}

/** The fields that hold a picture. With variants they hold a big and a small one with figures, else a path. */
export const PICTURE_FIELDS = {
  'images.logo': { kind: ImageKind.LOGO, hasVariants: true },
  'images.stock_logo': { kind: ImageKind.LOGO, hasVariants: true },
  'images.banner': { kind: ImageKind.BANNER, hasVariants: false },
  'manager.logo': { kind: ImageKind.LOGO, hasVariants: false },
  'stock.exchange_logo': { kind: ImageKind.EXCHANGE, hasVariants: false },
} as const satisfies Record<string, { kind: ImageKind; hasVariants: boolean }>;

export type PictureFieldName = keyof typeof PICTURE_FIELDS;

/** Returns a copy of a brand, or of an equally shaped message, whose field names the picture that images has stored. */
export function withStoredPicture<T extends object>(
  brand: T,
  field: PictureFieldName,
  { big, small }: Pick<PutImageResponse, 'big' | 'small'>,
): T {
  return withField(brand, field, PICTURE_FIELDS[field].hasVariants ? { big, small } : big?.path);
}
