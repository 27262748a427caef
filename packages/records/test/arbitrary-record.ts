import fc from 'fast-check';
import { BrandRecord } from '../src/index.ts';

/** The parts of a JSON Schema that the walk below reads. */
interface Schema {
  type?: string;
  enum?: readonly string[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minProperties?: number;
}

/** Any value of the schema. A field that is added to the schema is generated without a change here. */
function anyOf(schema: Schema): fc.Arbitrary<unknown> {
  const { minimum = -1e9, maximum = 1e9 } = schema;
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern), { maxLength: 60 });
  if (schema.properties !== undefined) {
    const fields = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, anyOf(field)]),
    );
    return fc
      .record(fields, { requiredKeys: [...(schema.required ?? [])], noNullPrototype: true })
      .filter((value) => Object.keys(value).length >= (schema.minProperties ?? 0));
  }
  if (schema.items !== undefined) return fc.array(anyOf(schema.items), { minLength: 1, maxLength: 3 });
  if (schema.type === 'integer') return fc.integer({ min: minimum, max: maximum });
  if (schema.type === 'number')
    return fc.double({ min: minimum, max: maximum, noNaN: true }).map((value) => (value === 0 ? 0 : value));
  if (schema.type === 'boolean') return fc.boolean();
  return fc.string({ minLength: 1, maxLength: 20 });
}

/** Any value with the shape of a record. Its fields may not suit its type. */
export const arbitraryShape = anyOf(BrandRecord as object as Schema) as fc.Arbitrary<BrandRecord>;

/** Any record. */
export const arbitraryRecord: fc.Arbitrary<BrandRecord> = arbitraryShape.map(
  ({ listings, stock, manager, ...record }) => ({
    ...record,
    ...(record.type === 'stock' && { listings: listings ?? [{ ticker: 'ACME', mic: 'XNAS' }] }),
    ...(record.type === undefined && listings && { listings }),
    ...((record.type === 'stock' || record.type === undefined) && stock && { stock }),
    ...(record.type === 'superinvestor' && manager && { manager }),
  }),
);
