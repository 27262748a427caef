/** Converts a catalogue record into the grouped and the flat record that callers get (packages/presenters/README.md). Pure. */

export { presentFlat, sourcesOfFlat } from './flat.ts';
export { type FlatRecord, flatRecordSchema } from './flat-schema.ts';
export { monogramUrl, type PresentOptions, presentGrouped } from './grouped.ts';
export { EXAMPLE_LOGO_HOST, type GroupedRecord, groupedRecordSchema } from './grouped-schema.ts';
