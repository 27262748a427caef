import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { Fault, type FaultKind } from './fault.ts';
import { retryUntilStopped } from './retry.ts';
import type { Service } from './service.ts';

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
 * A client on one channel, for the life of the process. `target` is host:port, or a gRPC target with its scheme
 * ("ipv4:10.0.0.1:80,10.0.0.2:80"); all of its addresses are used in turn.
 */
export function connectChannel<C extends Client>(
  Constructor: new (address: string, credentials: ChannelCredentials, options: ChannelOptions) => C,
  target: string,
): C {
  const uri = /^(dns|ipv4|ipv6|unix):/.test(target) ? target : `dns:///${target}`;
  return new Constructor(uri, credentials.createInsecure(), OPTIONS);
}

/** Returns when a server first accepts a connection: services start in any order. */
export function waitForConnection(service: Service, what: string, client: Client): Promise<void> {
  const connect = () =>
    new Promise<void>((resolve, reject) =>
      client.waitForReady(Date.now() + 2_000, (error) => (error ? reject(error) : resolve())),
    );
  return retryUntilStopped(what, connect, service);
}

type UnaryMethod<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, response: Response) => void,
) => unknown;

/**
 * Calls with a deadline. Rejects with a Fault of the answer's kind; no answer in time is `unavailable`.
 * With `waitForReady` a server that is away is waited for until the deadline, instead of failing at once.
 */
export function callUnary<Request, Response>(
  client: object,
  method: UnaryMethod<Request, Response>,
  request: Request,
  {
    deadlineMs,
    operatorToken,
    waitForReady = false,
  }: { deadlineMs: number; operatorToken?: string | undefined; waitForReady?: boolean },
): Promise<Response> {
  const metadata = new Metadata({ waitForReady });
  if (operatorToken !== undefined) metadata.set('authorization', `Bearer ${operatorToken}`);
  return new Promise((resolve, reject) =>
    method.call(client, request, metadata, { deadline: Date.now() + deadlineMs }, (error, response) => {
      if (!error) return resolve(response);
      const kind = FAULT_KIND[error.code];
      reject(kind === undefined ? error : new Fault(kind, error.details, { cause: error }));
    }),
  );
}
