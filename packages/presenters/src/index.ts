/** A catalogue record as callers see it: the grouped record and the flat one, field by field in packages/presenters/README.md. Pure. */

export { presentFlat } from './flat.ts';
export { type FlatRecord, flatRecordSchema } from './flat-schema.ts';
export { presentGrouped } from './grouped.ts';
export { type GroupedRecord, groupedRecordSchema } from './grouped-schema.ts';
