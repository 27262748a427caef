/** The whole service on this machine, for `npm start` and for tests. */

export { type Bds, bdsWith } from './bds.ts';
export { importCatalogue } from './catalogue.ts';
export { keepCertificates } from './certificates.ts';
export { replaceFile, writeSecret } from './data-folder.ts';
export type { Demo } from './demo.ts';
export {
  type OperatorConnection,
  type PlannedService,
  type PlanOptions,
  planStack,
  settingFile,
} from './plan.ts';
export { type Stack, startStack } from './stack.ts';
export { closingText } from './terminal.ts';
