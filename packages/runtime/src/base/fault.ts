/**
 * The one vocabulary of errors. A service answers a request that it cannot serve with a Fault. Code reads only its kind: each
 * kind becomes one gRPC status on the way to the caller, and the same kind again in the caller's process (`grpc/status.ts`). The
 * gateway and images turn a kind into a problem with a stable code (`http/problem.ts`). Both tables are exhaustive, so a new kind
 * does not compile until it has its place in both. The message of a Fault is meant for the caller and holds no secret. Any other
 * error that is thrown is a defect: the caller gets only "internal", and the text goes into the log.
 *
 * Choose the kind by what the caller can do:
 * - change the request: `invalid_argument`; `already_exists` if the name is taken; `not_found` if the thing does not exist, or
 *   this caller may not see it; `failed_precondition` if the state of the service forbids it;
 * - show another credential: `unauthenticated`; do nothing, because the credential does not allow the request:
 *   `permission_denied`;
 * - wait: `resource_exhausted` if a limit is reached; `unavailable` if a dependency does not answer, so the same request may succeed
 *   later.
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
  /** When the same request may succeed, if that is known. Only this process sees it. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    kind: FaultKind,
    message: string,
    { retryAfterSeconds, ...options }: ErrorOptions & { retryAfterSeconds?: number } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
