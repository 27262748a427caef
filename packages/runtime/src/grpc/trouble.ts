import { type ServiceError, status } from '@grpc/grpc-js';
import { Fault } from '../base/fault.ts';
import { ANSWERED_METADATA } from './status.ts';

/**
 * Why a call failed without an answer that the service chose to give.
 * - `no_listener`, `unknown_host`, `unreachable_host`: no connection could be made
 * - `certificates`: one side did not accept the other's certificate
 * - `late`: no answer came in time
 * - `cut_off`: the connection ended before the answer
 * - `too_large`: the message is larger than the reader accepts
 * - `unknown_method`: the service does not know the method, because it runs an earlier version
 * - `wrong_caller`: the service does not let this caller make the call; an earlier version also says so of a method that it does
 *   not know
 * - `defect`: the service failed and gave no reason
 */
export type CallTrouble =
  | 'no_listener'
  | 'unknown_host'
  | 'unreachable_host'
  | 'certificates'
  | 'late'
  | 'cut_off'
  | 'too_large'
  | 'unknown_method'
  | 'wrong_caller'
  | 'defect';

/**
 * Returns why a call failed without an answer. Undefined if the service itself answered, so that the error's message is for the
 * caller, or if the error did not come from a gRPC call.
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
