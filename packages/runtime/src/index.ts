/** The parts of every service's main: configuration, log, metrics, traces, health, gRPC, NATS, MongoDB, shutdown. */

export { type CertificateFiles, Certificates, foundExpiry } from './certificates.ts';
export { type Clock, elapsedMs, type Instant, setInstant, systemClock } from './clock.ts';
export {
  ConfigError,
  type ConfigOf,
  configSpec,
  MONGODB_CA,
  NATS_CA,
  OPERATOR_TOKEN,
  PASS_PUBLIC_KEYS,
  parseWebhookSecrets,
  secretsOf,
  streamSpec,
} from './config.ts';
export { Diagnosis, diagnosisService, type Found, foundFill } from './diagnosis.ts';
export { Fault, type FaultKind } from './fault.ts';
export { callUnary, connectChannel, waitForConnection } from './grpc-client.ts';
export {
  INSTALLATION,
  installationOr,
  type Operator,
  type OperatorCall,
  type OperatorRefusal,
  type Operators,
  operatorCallOf,
} from './grpc-operator.ts';
export { type CallMetadata, clientStream, type GrpcServer, startGrpcServer, unary } from './grpc-server.ts';
export { grpcStatusOf } from './grpc-status.ts';
export { callClientStream, callServerStream, serverStream } from './grpc-streams.ts';
export {
  INSECURE_PLAINTEXT,
  openTransport,
  type Transport,
  transportSpec,
} from './grpc-transport.ts';
export { type CallTrouble, callTroubleOf } from './grpc-trouble.ts';
export { closeHttpServer } from './http/close.ts';
export { nameOf } from './identity.ts';
export { createKeyedBatches, type KeyedBatches } from './keyed-batches.ts';
export { createLogger, type Logger } from './log.ts';
export { answerWithin, checkTransactionLifetime, connectMongo, type Mongo } from './mongo.ts';
export { checkIndexes } from './mongo-checks.ts';
export { KEPT, problemOfClient, problemOfMongoUrl } from './mongo-url.ts';
export {
  connectionOptions,
  connectNats,
  connectNatsLater,
  credentialsOf,
  ensureStream,
  type Nats,
  spanContextOfMessage,
  tlsOptions,
} from './nats.ts';
export { checkConsumer } from './nats-checks.ts';
export { plainAddress } from './networks.ts';
export { installationOrPass, PASS_LASTS_MS, signPass } from './operator-pass.ts';
export { type Told, type Trail, trailTo } from './operator-trail.ts';
export { findKeyIn, keyIdOf, signingKeyFromPem, verifyingKeysFromPem } from './pem-keys.ts';
export type { ReplicaChoice } from './replica-order.ts';
export { endRestore, markRestoring, RESTORING, refuseRestore, untilRestored } from './restoring.ts';
export { retryUntilStopped } from './retry.ts';
export { bringUpToDate, type Migration } from './schema.ts';
export { runService, type Service } from './service.ts';
export { isSetUp, runSetUp } from './set-up.ts';
export { readSettingFiles } from './setting-files.ts';
export {
  activeSpanContext,
  endSpan,
  extractSpanContext,
  inBatchSpan,
  type Span,
  type SpanContext,
  SpanKind,
  startServerSpan,
  type Tracer,
  withSpan,
} from './tracing.ts';
export { VERSION } from './version.ts';
