import { createHash } from 'node:crypto';
import { Brand } from '@brand-data/contracts';
import { type BrandKey, keysOfBrand } from '@brand-data/identifiers';
import { mergeContributions } from './merge.ts';

/** A Brand without its empty fields, at every depth: what is absent is "no data". */
export type BrandDoc = Parameters<typeof Brand.fromPartial>[0];

/** What one source says about a record, and the import that said so last. */
export interface Contribution {
  importId: string;
  brand: BrandDoc;
}

/** One record. All of it is in one document, so that all of it changes at once. */
export interface CatalogDoc {
  /** Brand.id. */
  _id: string;
  /** By source. */
  contributions: Record<string, Contribution>;
  /** The contributions, merged. */
  brand: BrandDoc;
  /** Everything that the merged brand is found by; indexed. */
  keys: BrandKey[];
  /** Brand.rank, beside the keys for the index. */
  rank: number;
  /** Of the contributed and the derived content, without import ids: equal when a write would change nothing else. */
  hash: string;
}

/** Derives a record from its contributions. Pure: every replica makes the same document of the same contributions. */
export function catalogDoc(id: string, contributions: Record<string, Contribution>): CatalogDoc {
  const contributed = Object.fromEntries(
    Object.entries(contributions).map(([source, contribution]) => [source, contribution.brand]),
  );
  const brand = mergeContributions(contributed);
  const keys = keysOfBrand(brandFromDoc(brand));
  const hash = createHash('sha256').update(canonicalJson({ contributed, brand, keys })).digest('base64url');
  return { _id: id, contributions, brand, keys, rank: brand.rank ?? 0, hash };
}

export function brandToDoc(brand: Brand): BrandDoc {
  return (withoutEmpties(brand) ?? {}) as BrandDoc;
}

export function brandFromDoc(doc: BrandDoc): Brand {
  return Brand.fromPartial(doc);
}

/** `0` and `false` are data. */
function withoutEmpties(value: unknown): unknown {
  if (value === '' || value === undefined || value === null) return undefined;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const items = value.map(withoutEmpties).filter((item) => item !== undefined);
    return items.length > 0 ? items : undefined;
  }
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const kept = withoutEmpties(field);
    return kept === undefined ? [] : [[name, kept]];
  });
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

/** Equal for equal values, whatever the order of their fields. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}
