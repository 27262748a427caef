import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { Fault, type FaultKind } from './fault.ts';

const FAULT_KIND: Partial<Record<status, FaultKind>> = {
  [status.INVALID_ARGUMENT]: 'invalid_argument',
  [status.UNAUTHENTICATED]: 'unauthenticated',
  [status.NOT_FOUND]: 'not_found',
  [status.ALREADY_EXISTS]: 'already_exists',
  [status.FAILED_PRECONDITION]: 'failed_precondition',
  [status.RESOURCE_EXHAUSTED]: 'resource_exhausted',
  [status.UNAVAILABLE]: 'unavailable',
  [status.DEADLINE_EXCEEDED]: 'unavailable',
  [status.CANCELLED]: 'unavailable',
};

const OPTIONS: ChannelOptions = {
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 3_000,
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
};

/**
 * A client on one channel, to be kept for the life of the process. `target` is host:port; all of the host's addresses
 * are used in turn.
 */
export function connectChannel<Client>(
  Constructor: new (address: string, credentials: ChannelCredentials, options: ChannelOptions) => Client,
  target: string,
): Client {
  return new Constructor(`dns:///${target}`, credentials.createInsecure(), OPTIONS);
}

type UnaryMethod<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, response: Response) => void,
) => unknown;

/** Calls with a deadline. Rejects with a Fault of the answer's kind; no answer in time is `unavailable`. */
export function callUnary<Request, Response>(
  client: object,
  method: UnaryMethod<Request, Response>,
  request: Request,
  { deadlineMs, operatorToken }: { deadlineMs: number; operatorToken?: string | undefined },
): Promise<Response> {
  const metadata = new Metadata();
  if (operatorToken !== undefined) metadata.set('authorization', `Bearer ${operatorToken}`);
  return new Promise((resolve, reject) =>
    method.call(client, request, metadata, { deadline: Date.now() + deadlineMs }, (error, response) => {
      if (!error) return resolve(response);
      const kind = FAULT_KIND[error.code];
      reject(kind === undefined ? error : new Fault(kind, error.details, { cause: error }));
    }),
  );
}
