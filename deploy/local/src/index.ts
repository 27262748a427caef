/** Real servers and the whole service on this machine, for `npm start` and for tests. */

export { type Bds, bdsWith } from './bds.ts';
export { importCatalogue } from './catalogue.ts';
export { newAuthority, newCertificate } from './certificate-maker.ts';
export { certificateFiles, certificateSettings, keepCertificates } from './certificates.ts';
export { writeSecret } from './data-folder.ts';
export type { Demo } from './demo.ts';
export { freePort } from './ports.ts';
export type { Child } from './process.ts';
export { newAllowanceKeys, newPassKeys, newSecrets, publicKeyOf, type Secrets } from './secrets.ts';
export type { LocalServer, ServerOptions } from './servers/local-server.ts';
export { isPrimary, mongodProcess, REPLICA_SET, startMongod } from './servers/mongod.ts';
export { answersAsNats, natsServerProcess, startNatsServer } from './servers/nats-server.ts';
export { dropMongodbUsers, mongodbPasswordOf, mongodbUrlOf, natsUrlOf, natsUsers } from './servers/users.ts';
export { serviceProcess } from './service.ts';
export { type OperatorConnection, type Stack, type StackOptions, startStack } from './stack.ts';
export { closingText } from './terminal.ts';
