/** The record format: its schema, its conversion from and to a Brand, and the rules that a stored record satisfies. */

export { brandFromRecord, recordFieldName, recordFromBrand } from './brand-from-record.ts';
export {
  firstLineOf,
  lastLineOf,
  lineOfCompany,
  type NewestImports,
  readExportLine,
} from './export-line.ts';
export {
  brandOfField,
  changedFields,
  fieldOf,
  hasData,
  JOINED,
  PICTURE_FIELDS,
  type PictureFieldName,
  recordValueOf,
  SEPARATED,
  SETTABLE_FIELDS,
  SUPPRESSED,
  withField,
  withStoredPicture,
} from './fields.ts';
export { RECORD_JSON_SCHEMA } from './record-json-schema.ts';
export { BrandRecord, readRecord, reportErrors } from './record-schema.ts';
export { categorySlug, slugOf } from './slugs.ts';
export { nearest, statementFor } from './statements.ts';
export {
  DERIVED,
  FIGURES,
  imagePathsOf,
  OPERATOR,
  problemOfSource,
  problemsOf,
  problemsOfQuote,
  refusalOf,
} from './validation.ts';
