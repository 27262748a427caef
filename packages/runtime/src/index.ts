/** The parts of every service's main: configuration, log, metrics, traces, health, gRPC, NATS, MongoDB, shutdown. */

export type { BackendPorts } from './backend/ports.ts';
export { runBackend } from './backend/run-backend.ts';
export { inBatches } from './base/batches.ts';
export { type Clock, elapsedMs, type Instant, setInstant, systemClock } from './base/clock.ts';
export { Fault, type FaultKind } from './base/fault.ts';
export { createKeyedBatches, type KeyedBatches } from './base/keyed-batches.ts';
export { VERSION } from './base/version.ts';
export {
  ConfigError,
  type ConfigOf,
  configSpec,
  NATS_CA,
  PASS_PUBLIC_KEYS,
  parseWebhookSecrets,
  secretsOf,
  streamSpec,
} from './config/config.ts';
export { KEPT, problemOfClient, problemOfMongoUrl } from './config/mongo-url.ts';
export { plainAddress } from './config/networks.ts';
export { findKeyIn, keyIdOf, signingKeyFromPem, verifyingKeysFromPem } from './config/pem-keys.ts';
export { readSettingFiles } from './config/setting-files.ts';
export { adminPortSpec, databaseSpec, grpcPortsSpec, natsSpec } from './config/shared-specs.ts';
export { Certificates, foundExpiry } from './grpc/certificates.ts';
export { callUnary, connectChannel, waitForConnection } from './grpc/client.ts';
export { identityNameOf } from './grpc/identity.ts';
export {
  INSTALLATION,
  installationOr,
  type OperatorCall,
  type Operators,
  operatorCallOf,
} from './grpc/operator.ts';
export type { ReplicaChoice } from './grpc/replica-order.ts';
export { type CallMetadata, clientStream, startGrpcServer, unary } from './grpc/server.ts';
export { grpcStatusOf } from './grpc/status.ts';
export { callClientStream, callServerStream, serverStream } from './grpc/streams.ts';
export {
  INSECURE_PLAINTEXT,
  openTransport,
  type Transport,
  transportSpec,
} from './grpc/transport.ts';
export { type CallTrouble, callTroubleOf } from './grpc/trouble.ts';
export { closeHttpServer } from './http/close.ts';
export { answerWithin } from './mongo/answer-within.ts';
export type { Mongo } from './mongo/mongo.ts';
export { openDatabase } from './mongo/open-database.ts';
export { bringUpToDate, type Migration } from './mongo/schema.ts';
export { checkConsumer } from './nats/checks.ts';
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
export {
  activeSpanContext,
  inBatchSpan,
  type SpanContext,
  SpanKind,
  type Tracer,
} from './observe/tracing.ts';
export { type AuditDetails, auditDetail, auditDetails } from './operators/audit-details.ts';
export { installationOrPass, PASS_LASTS_MS, signPass } from './operators/operator-pass.ts';
export { type AuditedChange, Trail } from './operators/operator-trail.ts';
export { endRestore, markRestoring, RESTORING, refuseRestore, untilRestored } from './operators/restoring.ts';
export { retryUntilStopped } from './service/retry.ts';
export { runService } from './service/run-service.ts';
export type { Service } from './service/service.ts';
