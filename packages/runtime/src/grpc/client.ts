import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  type ClientOptions,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { retryUntilStopped } from '../service/retry.ts';
import type { Service } from '../service/service.ts';
import { observeClient } from './observed.ts';
import { nameReplica, REPLICA_ORDER, type ReplicaChoice } from './replica-order.ts';
import { errorOfStatus } from './status.ts';
import { channelTo, type Transport } from './transport.ts';

/** Servers close each connection after a minute. A request that is under way on it may be lost. */
const RESEND_LOST_REQUESTS = {
  name: [{}],
  retryPolicy: {
    maxAttempts: 2,
    initialBackoff: '0.01s',
    maxBackoff: '0.01s',
    backoffMultiplier: 1,
    retryableStatusCodes: ['UNAVAILABLE'],
  },
};

const OPTIONS: ChannelOptions = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // A new replica has a new address. By default gRPC would look addresses up only every 30 s.
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 3_000,
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
};

interface ChannelOf {
  /** How this process identifies itself. */
  transport: Transport;
  /** The service that must be at the other end, by the name in its certificate. */
  peer: string;
  /** If given, the client measures and traces its calls. */
  service?: Pick<Service, 'metrics' | 'tracer'>;
  /**
   * Whether the client may send a request twice. If so, it repeats a request that was lost with its connection, once and within
   * the request's deadline.
   */
  isIdempotent?: boolean;
}

/**
 * Creates a client with one channel, for the life of the process. `target` is host:port, or a gRPC target with its scheme
 * ("ipv4:10.0.0.1:80,10.0.0.2:80"). Calls use all addresses in turn, except calls that choose a replica.
 */
export function connectChannel<C extends Client>(
  Constructor: new (address: string, credentials: ChannelCredentials, options: Partial<ClientOptions>) => C,
  target: string,
  { transport, peer, service, isIdempotent = false }: ChannelOf,
): C {
  const uri = /^(dns|ipv4|ipv6|unix):/.test(target) ? target : `dns:///${target}`;
  const { credentials, options } = channelTo(peer, transport);
  return new Constructor(uri, credentials, {
    ...OPTIONS,
    ...options,
    'grpc.service_config': JSON.stringify({
      ...REPLICA_ORDER,
      ...(isIdempotent ? { methodConfig: [RESEND_LOST_REQUESTS] } : {}),
    }),
    ...(service && observeClient(service)),
  });
}

/** Resolves when a server first accepts a connection. Services start in any order, so this may take a while. */
export function waitForConnection(service: Service, what: string, client: Client): Promise<void> {
  const connect = () =>
    new Promise<void>((resolve, reject) =>
      client.waitForReady(Date.now() + 2_000, (error) => (error ? reject(error) : resolve())),
    );
  return retryUntilStopped(what, connect, service);
}

/** What a call to an admin port carries. */
export interface OperatorOptions {
  /** The operator's credential. */
  operatorToken?: string | undefined;
  /** Identifies the calls of one run of `bds` in the trail of changes. */
  requestId?: string | undefined;
}

export function setOperator(metadata: Metadata, { operatorToken, requestId }: OperatorOptions): void {
  if (operatorToken !== undefined) metadata.set('authorization', `Bearer ${operatorToken}`);
  if (requestId !== undefined) metadata.set('x-request-id', requestId);
}

type UnaryMethod<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, response: Response) => void,
) => unknown;

/**
 * Makes a call with a deadline. Rejects with a Fault of the answer's kind (`errorOfStatus`), which is `unavailable` if no answer
 * arrives in time. If no server can be reached, the call fails at once. With `waitForReady` it waits for a server instead, until
 * the deadline.
 */
export function callUnary<Request, Response>(
  client: object,
  method: UnaryMethod<Request, Response>,
  request: Request,
  {
    deadlineMs,
    operatorToken,
    requestId,
    waitForReady = false,
    replica,
    metadata: more = {},
  }: {
    deadlineMs: number;
    waitForReady?: boolean;
    replica?: ReplicaChoice;
    /** Sent beside the request: names in small letters, and ASCII texts. */
    metadata?: Readonly<Record<string, string>>;
  } & OperatorOptions,
): Promise<Response> {
  const metadata = new Metadata({ waitForReady });
  setOperator(metadata, { operatorToken, requestId });
  for (const [name, value] of Object.entries(more)) metadata.set(name, value);
  if (replica) nameReplica(metadata, replica);
  return new Promise((resolve, reject) =>
    method.call(client, request, metadata, { deadline: Date.now() + deadlineMs }, (error, response) =>
      error ? reject(errorOfStatus(error)) : resolve(response),
    ),
  );
}
