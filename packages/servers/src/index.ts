/** Starts processes on this machine that end with this one: nats-server, mongod, and services by their main files. */

export { certificateFiles, certificateSettings } from './certificate-files.ts';
export type { LocalServer, ServerOptions } from './local-server.ts';
export { answersAsMongodb, mongodProcess, REPLICA_SET, startMongod } from './mongod.ts';
export { answersAsNats, natsServerProcess, startNatsServer } from './nats-server.ts';
export { freePort, isFree } from './ports.ts';
export { type Child, Problem } from './process.ts';
export { newSecrets, newSigningKeys, publicKeyOf, type Secrets } from './secrets.ts';
export { serviceProcess, V8_OPTIONS } from './service.ts';
export {
  ensureMongodbUsers,
  mongodbAdminUrl,
  mongodbPasswordOf,
  mongodbUrlOf,
  natsAdminUrl,
  natsUrlOf,
  natsUsers,
} from './users.ts';
