/** The parts of every service's main: configuration, log, metrics, traces, health, gRPC, NATS, MongoDB, shutdown. */

export { type BackendPorts, runBackend } from './backend/run-backend.ts';
export { createKeyedBatches, inBatches, type KeyedBatches } from './base/batches.ts';
export { type Clock, elapsedMs, type Instant, setInstant, systemClock } from './base/clock.ts';
export { Fault, type FaultKind } from './base/fault.ts';
export { VERSION } from './base/version.ts';
export {
  adminPortSpec,
  ConfigError,
  type ConfigOf,
  configSpec,
  databaseSpec,
  grpcPortsSpec,
  MONOGRAM_KEYS,
  NATS_CA,
  natsSpec,
  PASS_PUBLIC_KEYS,
  parseWebhookSecrets,
  secretsOf,
  streamSpec,
  TRUSTED_PROXIES,
} from './config/config.ts';
export { KEPT, problemOfClient, problemOfMongoUrl } from './config/mongo-url.ts';
export { inNetworks, isNetwork, networkOf, plainAddress, usualNetwork } from './config/networks.ts';
export { findKeyIn, keyIdOf, signingKeyFromPem, verifyingKeysFromPem } from './config/pem-keys.ts';
export { readSettingFiles } from './config/setting-files.ts';
export { Certificates, foundExpiry, identityNameOf } from './grpc/certificates.ts';
export * from './grpc/client.ts';
export {
  INSTALLATION,
  installationOr,
  type OperatorCall,
  type Operators,
  operatorCallOf,
} from './grpc/operator.ts';
export type { ReplicaChoice } from './grpc/replica-order.ts';
export { type CallMetadata, clientStream, serverStream, startGrpcServer, unary } from './grpc/server.ts';
export { type CallTrouble, callTroubleOf, grpcStatusOf } from './grpc/status.ts';
export { INSECURE_PLAINTEXT, openTransport, type Transport, transportSpec } from './grpc/transport.ts';
export { closeHttpServer } from './http/connections.ts';
export { answerWithin } from './mongo/answer-within.ts';
export type { Mongo } from './mongo/connect.ts';
export { openDatabase } from './mongo/open-database.ts';
export { bringUpToDate, type Migration } from './mongo/schema.ts';
export { checkConsumer, unlessMissing } from './nats/checks.ts';
export {
  connectionOptions,
  connectNats,
  connectNatsLater,
  credentialsOf,
  ensureStream,
  type Nats,
  spanContextOfMessage,
  tlsOptions,
} from './nats/nats.ts';
export { Diagnosis, type Found } from './observe/diagnosis.ts';
export { createLogger, type Logger } from './observe/log.ts';
export { countBy, gaugesAtScrape, perRegistry, type Sample } from './observe/metrics.ts';
export {
  activeSpanContext,
  inBatchSpan,
  type SpanContext,
  SpanKind,
  type Tracer,
} from './observe/tracing.ts';
export { installationOrPass, PASS_LASTS_MS, signPass } from './operators/operator-pass.ts';
export {
  type AuditDetails,
  type AuditedChange,
  auditDetail,
  auditDetails,
  Trail,
} from './operators/operator-trail.ts';
export { endRestore, markRestoring, RESTORING, refuseRestore, untilRestored } from './operators/restoring.ts';
export { runService } from './service/run-service.ts';
export { retryUntilStopped, type Service } from './service/service.ts';
