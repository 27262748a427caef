/** The whole service on this machine, for `npm start` and for tests. */

export { type Bds, bdsWith } from './bds.ts';
export { importCatalogue } from './catalogue.ts';
export { keepCertificates } from './certificates.ts';
export { writeSecret } from './data-folder.ts';
export type { Demo } from './demo.ts';
export { type OperatorConnection, type Stack, type StackOptions, startStack } from './stack.ts';
export { closingText } from './terminal.ts';
