/** The record format: its schema, its conversion from and to a Brand, and the rules that a stored record satisfies. */

export { brandFromRecord, recordFromBrand } from './brand-from-record.ts';
export {
  firstLineOf,
  lastLineOf,
  lineOfCompany,
  type NewestImports,
  readExportLine,
} from './export-line.ts';
export { recordFieldName } from './field-names.ts';
export { brandOfField, fieldOf, hasData, recordValueOf, SETTABLE_FIELDS, withField } from './fields.ts';
export { PICTURE_FIELDS, type PictureFieldName, withStoredPicture } from './picture-fields.ts';
export { RECORD_JSON_SCHEMA } from './record-json-schema.ts';
export { BrandRecord, readRecord } from './record-schema.ts';
export { categorySlug, slugOf } from './slugs.ts';
export { DERIVED, OPERATOR, problemOfSource } from './sources.ts';
export { FIGURES, imagePathsOf, problemsOf, problemsOfQuote, refusalOf } from './validation.ts';
