import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  type ClientOptions,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { retryUntilStopped, type Service } from '../service/service.ts';
import { observeClient } from './observed.ts';
import { CONNECTED, nameReplica, REPLICA_ORDER, type ReplicaChoice } from './replica-order.ts';
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
  transport: Transport;
  /** The service that must be at the other end, by the name in its certificate. */
  peer: string;
  /** If given, the client measures and traces its calls. */
  service?: Pick<Service, 'metrics' | 'tracer'>;
  /** Whether to repeat a request that was lost with its connection, once and within the request's deadline. */
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
  const connected = { replicas: 0 };
  const client = new Constructor(uri, credentials, {
    ...OPTIONS,
    ...options,
    [CONNECTED]: connected,
    'grpc.service_config': JSON.stringify({
      ...REPLICA_ORDER,
      ...(isIdempotent ? { methodConfig: [RESEND_LOST_REQUESTS] } : {}),
    }),
    ...(service && observeClient(service)),
  });
  connections.set(client, connected);
  return client;
}

const connections = new WeakMap<Client, { replicas: number }>();

/** Returns how many replicas a client of `connectChannel` is connected to now. */
export function connectedReplicas(client: Client): number {
  return connections.get(client)?.replicas ?? 0;
}

/** Resolves when a server first accepts a connection. Services start in any order, so this may take a while. */
export function waitForConnection(service: Service, what: string, client: Client): Promise<void> {
  const ready = promisify(client.waitForReady).bind(client);
  return retryUntilStopped(what, () => ready(Date.now() + 2_000), service);
}

interface OneCall {
  /** For the whole call, a stream too. */
  deadlineMs: number;
  /** The operator's credential, for a call to an admin port. */
  operatorToken?: string | undefined;
  /** Identifies the calls of one run of `bds` in the trail of changes. */
  requestId?: string | undefined;
}

type Callback<Response> = (error: ServiceError | null, response: Response) => void;

/**
 * Makes a call with a deadline. Rejects with a Fault of the answer's kind (`errorOfStatus`), which is `unavailable` if no answer
 * arrives in time. If no server can be reached, the call fails at once. With `waitForReady` it waits for a server instead, until
 * the deadline.
 */
export function callUnary<Request, Response>(
  client: object,
  method: (
    request: Request,
    metadata: Metadata,
    options: Partial<CallOptions>,
    callback: Callback<Response>,
  ) => unknown,
  request: Request,
  {
    waitForReady = false,
    replica,
    metadata: more = {},
    signal,
    ...options
  }: OneCall & {
    waitForReady?: boolean;
    replica?: ReplicaChoice;
    /** Sent beside the request: names in small letters, and ASCII texts. */
    metadata?: Readonly<Record<string, string>>;
    /** Cancels the call when it is aborted. */
    signal?: AbortSignal;
  },
): Promise<Response> {
  const { metadata, deadline } = callOptions(options, waitForReady);
  for (const [name, value] of Object.entries(more)) metadata.set(name, value);
  if (replica) nameReplica(metadata, replica);
  return new Promise((resolve, reject) => {
    const call = method.call(client, request, metadata, { deadline }, (error, response) =>
      error ? reject(errorOfStatus(error)) : resolve(response),
    );
    const cancel = () => (call as ClientUnaryCall).cancel();
    if (signal?.aborted) cancel();
    else signal?.addEventListener('abort', cancel, { once: true });
  });
}

/** Makes a call that is answered with a stream. Ends normally only if the stream is complete, and otherwise throws as callUnary. */
export async function* callServerStream<Request, Response>(
  client: object,
  method: (
    request: Request,
    metadata: Metadata,
    options: Partial<CallOptions>,
  ) => ClientReadableStream<Response>,
  request: Request,
  options: OneCall,
): AsyncGenerator<Response> {
  const { metadata, deadline } = callOptions(options);
  const call = method.call(client, request, metadata, { deadline });
  try {
    for await (const message of call) yield message as Response;
  } catch (error) {
    throw errorOfStatus(error as ServiceError);
  } finally {
    call.cancel();
  }
}

/**
 * Makes a call that sends a stream. If `messages` throws, this function cancels the call and rejects with that error. Otherwise it
 * rejects as callUnary. The server sees the stream of a cancelled call end like any other stream, so the messages themselves must
 * say which one is the last.
 */
export async function callClientStream<Request, Response>(
  client: object,
  method: (
    metadata: Metadata,
    options: Partial<CallOptions>,
    callback: Callback<Response>,
  ) => ClientWritableStream<Request>,
  messages: AsyncIterable<Request>,
  options: OneCall,
): Promise<Response> {
  const { metadata, deadline } = callOptions(options);
  const { promise: answer, resolve, reject } = Promise.withResolvers<Response>();
  const call = method.call(client, metadata, { deadline }, (error, response) =>
    error ? reject(errorOfStatus(error)) : resolve(response),
  );
  // If the server answers before the stream has ended, for example with an error, nothing more is sent.
  const answered = new AbortController();
  answer.catch(() => undefined).finally(() => answered.abort());
  let failure: { error: unknown } | undefined;
  const read = async function* () {
    try {
      yield* messages;
    } catch (error) {
      // Once the server has answered, the pipeline ends the generator with the pipeline's own error.
      if (!answered.signal.aborted) failure = { error };
      call.cancel();
      throw error;
    }
  };
  await pipeline(Readable.from(read()), call as NodeJS.WritableStream, { signal: answered.signal }).catch(
    () => call.cancel(),
  );
  if (failure !== undefined) throw failure.error;
  return answer;
}

function callOptions({ deadlineMs, operatorToken, requestId }: OneCall, waitForReady = false) {
  const metadata = new Metadata({ waitForReady });
  if (operatorToken !== undefined) metadata.set('authorization', `Bearer ${operatorToken}`);
  if (requestId !== undefined) metadata.set('x-request-id', requestId);
  return { metadata, deadline: Date.now() + deadlineMs };
}
