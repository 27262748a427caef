/** Imports files of many kinds into the catalogue as source records: how an import runs, the formats, the sources. */

export { copyFiles } from './fetch/copy-files.ts';
export { fetchFile } from './fetch/fetch-file.ts';
export { PassingProblem, Requests } from './fetch/requests.ts';
export { FetchProblem, readState, writeState } from './fetch/stored-file.ts';
export { sizeOf } from './formats/content.ts';
export { readCurrency } from './formats/currencies.ts';
export { readJsonLines } from './formats/json.ts';
export { readLines } from './formats/lines.ts';
export { readVenue } from './formats/listing.ts';
export type { TableLayout } from './formats/table.ts';
export { type AdminPort, type ImagesPort, retryWhileUnavailable } from './framework/admin-port.ts';
export { IdSet } from './framework/batches.ts';
export {
  caseToJson,
  type ImportCounts,
  ImportJournal,
  NdjsonFile,
  newImportId,
  removeEarlier,
} from './framework/import-journal.ts';
export { DEFAULT_MEMORY_MIB } from './framework/kept-memory.ts';
export {
  type ImportOptions,
  type ImportReport,
  importBrands,
  importQuotes,
  noteRun,
  reportImport,
} from './framework/run-import.ts';
export { type BytesRead, OptionError, PictureProblem, type Refusal } from './framework/source-items.ts';
export { storePicture } from './framework/store-picture.ts';
export { NO_VALUE, readFieldValue, readOverrideFile, type Setting } from './overrides/read-overrides.ts';
export { setOverrides, UNKNOWN_OUTCOME } from './overrides/set-overrides.ts';
export { type Icon, loadIcons } from './pictures/icons.ts';
export { readPictureFile, takePictures } from './pictures/take-pictures.ts';
export {
  FIELDS_HELP,
  proposeMapping,
  readConditions,
  readMapping,
  readMappingFile,
} from './sources/csv/mapping.ts';
export { readCsv } from './sources/csv/read-csv.ts';
export { readFinanceDatabase } from './sources/financedatabase/read-financedatabase.ts';
export { haveDeltasOnly, readGleif } from './sources/gleif/read-gleif.ts';
export { readIconify } from './sources/iconify/read-iconify.ts';
export { type LogoFileFigures, readLogoFiles } from './sources/logo-files/read-logo-files.ts';
export { readRates } from './sources/market-data/quotes.ts';
export { MARKET_DATA_FIELDS, readMarketData } from './sources/market-data/read-market-data.ts';
export { readRecords } from './sources/records/read-records.ts';
export { readSec } from './sources/sec/read-sec.ts';
export { readSimpleIcons } from './sources/simple-icons/read-simple-icons.ts';
export { readWikidata } from './sources/wikidata/read-wikidata.ts';
