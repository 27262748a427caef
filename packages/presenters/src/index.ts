/** A catalogue record as callers see it: the grouped record (spec.md 2.1) and the flat one (spec.md 2.2). Pure. */

export { presentFlat } from './flat.ts';
export { type FlatRecord, flatRecordSchema } from './flat-schema.ts';
export { presentGrouped } from './grouped.ts';
export { type GroupedRecord, groupedRecordSchema } from './grouped-schema.ts';
