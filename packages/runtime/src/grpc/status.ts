import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { Fault, type FaultKind } from '../base/fault.ts';

/**
 * For each kind of Fault, first the gRPC status with which a server sends it, then other statuses that a client receives as this
 * kind. gRPC itself produces CANCELLED and DEADLINE_EXCEEDED when no answer came.
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
    statuses.map((code) => [code, kind as FaultKind] as const),
  ),
);

/** Every error that a server itself answers has this metadata. An error that gRPC makes on the way has not. */
export const ANSWERED_METADATA = 'grpc-retry-pushback-ms';

/**
 * Returns the status that a server sends for an error. A Fault keeps its message. Any other error is a defect, whose text is not
 * sent.
 */
export function grpcStatusOf(error: unknown): { code: status; details: string; metadata: Metadata } {
  const metadata = new Metadata();
  // The request is not lost, so this asks clients that repeat lost requests (`connectChannel`) not to repeat it.
  metadata.set(ANSWERED_METADATA, '-1');
  return error instanceof Fault
    ? { code: STATUSES_OF_KIND[error.kind][0], details: error.message, metadata }
    : { code: status.INTERNAL, details: 'internal error', metadata };
}

/**
 * Returns the error that a client throws for a status: a Fault of its kind. Other statuses are defects of the server: gRPC's own
 * error.
 */
export function errorOfStatus(error: ServiceError): Fault | ServiceError {
  const kind = KIND_OF_STATUS.get(error.code);
  return kind === undefined ? error : new Fault(kind, error.details, { cause: error });
}
