import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  type ClientOptions,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { Fault, type FaultKind } from './fault.ts';
import { observeClient } from './grpc-observed.ts';
import { nameReplica, REPLICA_ORDER, type ReplicaChoice } from './replica-order.ts';
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
  ...REPLICA_ORDER,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // A replica that comes in place of another has a new address: by default it would be looked for after 30 s.
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 3_000,
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
};

/**
 * A client on one channel, for the life of the process. `target` is host:port, or a gRPC target with its scheme
 * ("ipv4:10.0.0.1:80,10.0.0.2:80"); all of its addresses are used in turn, but for calls that
 * name a replica. A service measures and traces its calls.
 */
export function connectChannel<C extends Client>(
  Constructor: new (address: string, credentials: ChannelCredentials, options: Partial<ClientOptions>) => C,
  target: string,
  service?: Pick<Service, 'metrics' | 'tracing'>,
): C {
  const uri = /^(dns|ipv4|ipv6|unix):/.test(target) ? target : `dns:///${target}`;
  const options = { ...OPTIONS, ...(service && observeClient(service)) };
  return new Constructor(uri, credentials.createInsecure(), options);
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
    replica,
  }: {
    deadlineMs: number;
    operatorToken?: string | undefined;
    waitForReady?: boolean;
    replica?: ReplicaChoice;
  },
): Promise<Response> {
  const metadata = new Metadata({ waitForReady });
  if (operatorToken !== undefined) metadata.set('authorization', `Bearer ${operatorToken}`);
  if (replica) nameReplica(metadata, replica);
  return new Promise((resolve, reject) =>
    method.call(client, request, metadata, { deadline: Date.now() + deadlineMs }, (error, response) => {
      if (!error) return resolve(response);
      const kind = FAULT_KIND[error.code];
      reject(kind === undefined ? error : new Fault(kind, error.details, { cause: error }));
    }),
  );
}
