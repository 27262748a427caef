import {
  Brand,
  ExportedCompany,
  type ExportedOverrides,
  type ExportedRecord,
  type Override,
} from '@brand-data/contracts';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { brandFromRecord, recordFromBrand } from './brand-from-record.ts';
import { brandOfField, recordValueOf } from './fields.ts';
import { BrandRecord, closed, errorsOf } from './record-schema.ts';

const FORMAT = 'brand-data catalogue';
const VERSION = 1;

const partialRecord = Type.Partial(BrandRecord);
/** A company may have an id that no source gives. */
const partialCompany = Type.Partial(closed({ ...BrandRecord.properties, id: Type.String() }));
const time = Type.String({
  pattern: '^20\\d\\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$',
  description: 'a time such as "2026-11-22T09:14:31.204Z"',
});

const firstLine = Compile(
  closed({
    export: Type.Literal(FORMAT),
    version: Type.Literal(VERSION),
    /** By source: its newest import. */
    imports: Type.Record(Type.String(), Type.String()),
  }),
);
const lastLine = Compile(closed({ end: Type.Literal(true), companies: Type.Integer() }));
const recordLine = closed({
  source: Type.String(),
  /** Absent: the newest import of the source. */
  import: Type.Optional(Type.String()),
  /** The main listing that the record is a quote of. */
  quote: Type.Optional(Type.String()),
  record: partialRecord,
});
const override = { field: Type.String(), value: Type.Unknown(), by: Type.String() };
const overridesLine = closed({
  id: Type.String(),
  fields: Type.Array(closed({ ...override, at: time, reason: Type.String() })),
  /** The company's source records when a field was last set, and the company at that time. */
  records: Type.Array(closed({ source: Type.String(), id: Type.String() })),
  company: Type.Optional(partialCompany),
});
const companyLine = Compile(
  closed({
    id: Type.String(),
    changed_at: Type.Optional(time),
    records: Type.Optional(Type.Array(recordLine)),
    overrides: Type.Optional(Type.Array(overridesLine)),
  }),
);
type CompanyLine = Static<ReturnType<typeof companyLine.Type>>;

/** By source: its newest import. */
export type NewestImports = ReadonlyMap<string, string>;

export function firstLineOf(imports: NewestImports): object {
  const sorted = [...imports].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { export: FORMAT, version: VERSION, imports: Object.fromEntries(sorted) };
}

/** Returns the last line, which tells a whole export from one that broke off. */
export function lastLineOf(companies: number): object {
  return { end: true, companies };
}

/** Returns a company as a line of an export. An equal company has an equal line. `companyFromLine` is the inverse. */
export function lineOfCompany(
  { id, changedAtMs, records, overrides }: ExportedCompany,
  newest: NewestImports,
): object {
  const lineOfRecord = ({ source, id, importId, isQuote, brand = Brand.create() }: ExportedRecord) => ({
    source,
    ...(importId !== newest.get(source) && { import: importId }),
    ...(isQuote && { quote: id }),
    record: recordFromBrand(brand),
  });
  return {
    id,
    ...(changedAtMs > 0 && { changed_at: new Date(changedAtMs).toISOString() }),
    ...(records.length > 0 && { records: records.map(lineOfRecord) }),
    ...(overrides.length > 0 && { overrides: overrides.map(lineOfOverrides) }),
  };
}

function lineOfOverrides({ id, set }: ExportedOverrides) {
  const { overrides = [], records = [], company } = set ?? {};
  return {
    id,
    fields: overrides.map(({ field, value, by, atMs, reason }) => {
      return { field, value: recordValueOf(value, field), by, at: new Date(atMs).toISOString(), reason };
    }),
    records: records.map(({ source, id }) => ({ source, id })),
    ...(company && { company: recordFromBrand(company) }),
  };
}

export type ExportLine =
  | { imports: NewestImports }
  | { company: ExportedCompany }
  | { companies: number }
  | { problems: string[] };

/** Reads a line. Problems name the field and a remedy. */
export function readExportLine(value: unknown, newest: NewestImports): ExportLine {
  if (firstLine.Check(value)) return { imports: new Map(Object.entries(value.imports)) };
  if (lastLine.Check(value)) return { companies: value.companies };
  if (companyLine.Check(value)) return companyFromLine(value, newest);
  return { problems: errorsOf(companyLine, value) };
}

function companyFromLine(
  { id, changed_at, records = [], overrides = [] }: CompanyLine,
  newest: NewestImports,
): ExportLine {
  const problems: string[] = [];
  const company = ExportedCompany.fromPartial({
    id,
    changedAtMs: changed_at === undefined ? 0 : Date.parse(changed_at),
    records: records.map(({ source, import: importId = newest.get(source) ?? '', quote, record }) => ({
      source,
      id: quote ?? record.id ?? '',
      importId,
      isQuote: quote !== undefined,
      brand: brandFromRecord(record as BrandRecord),
    })),
    overrides: overrides.map(({ id, fields, records, company }) => ({
      id,
      set: {
        overrides: fields.map(({ field, value, by, at, reason }): Override => {
          const read = value === null ? { brand: undefined } : brandOfField(field, value);
          if ('problem' in read) problems.push(read.problem);
          const brand = 'problem' in read ? undefined : read.brand;
          return { field, value: brand, by, atMs: Date.parse(at), reason };
        }),
        records,
        ...(company && { company: brandFromRecord(company as BrandRecord) }),
      },
    })),
  });
  return problems.length > 0 ? { problems } : { company };
}
