/** The operator's command line, and the parts of it that other programs use. */

export { type AdminPort, type Connection, openConnection, type Settings } from './connection.ts';
export { type Icon, loadIcons } from './imports/icons.ts';
export type { BytesRead, ReadBrand, ReadQuote } from './imports/reading.ts';
export { readRecords } from './imports/records.ts';
export { type ImportOptions, type ImportSummary, importBrands, importQuotes } from './imports/run.ts';
export { readSimpleIcons } from './imports/simple-icons.ts';
export { main, type Surroundings } from './main.ts';
export { brandFromRecord, recordFromBrand } from './records/brand-from-record.ts';
export { BrandRecord, RECORD_JSON_SCHEMA, readRecord } from './records/schema.ts';
