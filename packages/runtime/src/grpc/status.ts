import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { Fault, type FaultKind } from '../base/fault.ts';

/**
 * For each kind of Fault, the gRPC status with which a server sends it, then others that a client receives as this kind: gRPC itself
 * produces CANCELLED and DEADLINE_EXCEEDED when no answer came.
 */
export const STATUSES_OF_KIND: Record<FaultKind, readonly [sent: status, ...received: status[]]> = {
  invalid_argument: [status.INVALID_ARGUMENT],
  unauthenticated: [status.UNAUTHENTICATED],
  permission_denied: [status.PERMISSION_DENIED],
  not_found: [status.NOT_FOUND],
  already_exists: [status.ALREADY_EXISTS],
  failed_precondition: [status.FAILED_PRECONDITION],
  resource_exhausted: [status.RESOURCE_EXHAUSTED],
  unavailable: [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED],
};

const KIND_OF_STATUS: ReadonlyMap<status, FaultKind> = new Map(
  Object.entries(STATUSES_OF_KIND).flatMap(([kind, statuses]) =>
    statuses.map((code): [status, FaultKind] => [code, kind as FaultKind]),
  ),
);

/** Every error that a server itself answers has this metadata. An error that gRPC makes on the way has not. */
const ANSWERED_METADATA = 'grpc-retry-pushback-ms';

/** Returns the status that a server sends for an error. A Fault keeps its message. The text of a defect is not sent. */
export function grpcStatusOf(error: unknown): { code: status; details: string; metadata: Metadata } {
  const metadata = new Metadata();
  // The request is not lost, so this asks clients that repeat lost requests (`connectChannel`) not to repeat it.
  metadata.set(ANSWERED_METADATA, '-1');
  return error instanceof Fault
    ? { code: STATUSES_OF_KIND[error.kind][0], details: error.message, metadata }
    : { code: status.INTERNAL, details: 'internal error', metadata };
}

/** Returns the error that a client throws for a status: a Fault of its kind, or gRPC's own error if the server has a defect. */
export function errorOfStatus(error: ServiceError): Fault | ServiceError {
  const kind = KIND_OF_STATUS.get(error.code);
  return kind === undefined ? error : new Fault(kind, error.details, { cause: error });
}

/** Why a call failed without an answer that the service chose to give. */
export type CallTrouble =
  // No connection could be made,
  | 'no_listener'
  | 'unknown_host'
  | 'unreachable_host'
  // or one side did not accept the other's certificate.
  | 'certificates'
  | 'late'
  // The connection ended before the answer.
  | 'cut_off'
  | 'too_large'
  // The service runs an earlier version. It may also say `wrong_caller` of a method that it does not know.
  | 'unknown_method'
  | 'wrong_caller'
  // The service failed and gave no reason.
  | 'defect';

/**
 * Returns why a call failed without an answer. Undefined if the service itself answered, in a message for the caller, or if the
 * error did not come from a gRPC call.
 */
export function callTroubleOf(error: unknown): CallTrouble | undefined {
  const failure = error instanceof Fault ? error.cause : error;
  if (!isServiceError(failure)) return undefined;
  const { code, details } = failure;
  switch (code) {
    case status.UNIMPLEMENTED:
      return 'unknown_method';
    case status.DEADLINE_EXCEEDED:
      return 'late';
    case status.CANCELLED:
      return 'cut_off';
    case status.PERMISSION_DENIED:
      return details.includes('this certificate identifies') ? 'wrong_caller' : undefined;
    case status.RESOURCE_EXHAUSTED:
      return /message larger than max/.test(details) ? 'too_large' : undefined;
    case status.UNAVAILABLE:
      return failure.metadata.get(ANSWERED_METADATA).length > 0 ? undefined : connectionTrouble(details);
    default:
      return error instanceof Fault ? undefined : 'defect';
  }
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && 'details' in error;
}

function connectionTrouble(details: string): CallTrouble {
  if (/ECONNREFUSED/.test(details)) return 'no_listener';
  if (/ENOTFOUND|EAI_AGAIN|Name resolution failed/.test(details)) return 'unknown_host';
  if (/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/.test(details)) return 'unreachable_host';
  if (/certificate|altnames|SSL|TLS|EPROTO/i.test(details)) return 'certificates';
  return 'cut_off';
}
