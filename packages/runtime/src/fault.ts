/**
 * The kinds of errors with which services answer one another. `grpc-status.ts` has the gRPC status of each kind. A Fault's
 * message is meant for the caller. Any other error that is thrown is a defect, and its text goes only into the log.
 */
export type FaultKind =
  | 'invalid_argument'
  | 'unauthenticated'
  | 'permission_denied'
  | 'not_found'
  | 'already_exists'
  | 'failed_precondition'
  | 'resource_exhausted'
  | 'unavailable';

export class Fault extends Error {
  override readonly name = 'Fault';
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
