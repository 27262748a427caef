import { once } from 'node:events';
import { promisify } from 'node:util';
import {
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Metadata,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { Fault } from '../base/fault.ts';
import type { Service } from '../service/service.ts';
import { type CallableService, requireCaller } from './callers.ts';
import { dropClosedStreams } from './closed-streams.ts';
import { listenWithMutualTls } from './listener.ts';
import { observeServer } from './observed.ts';
import { type Operators, requireOperator } from './operator.ts';
import { grpcStatusOf } from './status.ts';
import type { Transport } from './transport.ts';

/** The metadata that a caller sends beside its request. */
export type CallMetadata = Pick<Metadata, 'get'>;

/**
 * Returns a gRPC handler made of a function from request to response. It logs defects.
 *
 * @param handle `isOver` tells whether the caller no longer waits for the answer, for example because its deadline has passed
 */
export function unary<Request, Response>(
  service: Service,
  handle: (request: Request, metadata: CallMetadata, isOver: () => boolean) => Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    handle(call.request, call.metadata, () => call.cancelled).then(
      (response) => callback(null, response),
      (error: unknown) => callback(failureOf(service, call, error)),
    );
  };
}

/**
 * Returns a gRPC handler made of a function from a stream of requests to one response. If the caller breaks the stream off,
 * reading the next request throws. The handler logs defects.
 */
export function clientStream<Request, Response>(
  service: Service,
  handle: (requests: AsyncIterable<Request>, metadata: CallMetadata) => Promise<Response>,
): handleClientStreamingCall<Request, Response> {
  return (call, callback) => {
    handle(call, call.metadata).then(
      (response) => callback(null, response),
      (error: unknown) => callback(call.cancelled ? grpcStatusOf(error) : failureOf(service, call, error)),
    );
  };
}

/**
 * Starts a gRPC handler that sends every message that `handle` yields. It asks for the next message only when the caller has room
 * for it, so neither side keeps the whole answer in memory. The signal is aborted when the caller cancels or its deadline passes.
 */
export function serverStream<Request, Response>(
  service: Service,
  handle: (request: Request, signal: AbortSignal) => AsyncIterable<Response>,
): handleServerStreamingCall<Request, Response> {
  return async (call) => {
    const cancelled = new AbortController();
    const { signal } = cancelled;
    call.on('cancelled', () => cancelled.abort());
    try {
      for await (const message of handle(call.request, signal)) {
        if (signal.aborted) return;
        if (!call.write(message)) await once(call, 'drain', { signal });
      }
      call.end();
    } catch (error) {
      if (signal.aborted) return;
      call.emit('error', failureOf(service, call, error));
    }
  };
}

/** Stands for a message that does not decode. gRPC itself would answer INTERNAL, as if this service had a defect. */
const UNREADABLE = Symbol('unreadable');

function markUnreadable(definition: ServiceDefinition): ServiceDefinition {
  const entries = Object.entries(definition).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer) => {
      try {
        return method.requestDeserialize(bytes);
      } catch {
        return UNREADABLE;
      }
    };
    return [name, { ...method, requestDeserialize }];
  });
  return Object.fromEntries(entries);
}

const refuseUnreadable: ServerInterceptor = (_method, call) =>
  new ServerInterceptingCall(call, {
    start: (next) =>
      next({
        onReceiveMessage: (message: unknown, proceed) => {
          if (message !== UNREADABLE) return proceed(message);
          call.sendStatus(grpcStatusOf(new Fault('invalid_argument', 'the request does not decode')));
        },
      }),
  });

/** Returns the status of a failed call. Logs a defect. */
function failureOf({ log }: Service, call: { getPath(): string }, error: unknown) {
  if (!(error instanceof Fault)) log.error({ err: error, method: call.getPath() }, 'a call failed');
  return grpcStatusOf(error);
}

/** Large enough for a batch of everything that gateways ask or report. */
const SERVING_BYTES = 256 * 1024;
/** Large enough for a batch of source records, and for an image. */
const ADMIN_BYTES = 16 * 1024 * 1024;

export interface GrpcServer {
  transport: Transport;
  host: string;
  port: number;
  services: (CallableService & { handlers: UntypedServiceImplementation })[];
  /** If given, this is an admin port, which answers only operators and accepts larger requests. */
  operators?: Operators;
  /** Whether a call may take longer than a minute. Connections then stay as long as clients want. */
  mayLastLong?: boolean;
}

/**
 * Serves `services` and the standard health service to those who may call them, and measures and traces their calls. At the stop,
 * calls in flight may finish.
 */
export async function startGrpcServer(
  service: Service,
  { transport, host, port, services, operators, mayLastLong = false }: GrpcServer,
): Promise<void> {
  const { certificates } = transport;
  let listener: Awaited<ReturnType<typeof listenWithMutualTls>> | undefined;
  const server = new Server({
    // Clients look for new replicas, and use new certificates, when a connection ends.
    ...(!mayLastLong && {
      'grpc.max_connection_age_ms': 60_000,
      'grpc.max_connection_age_grace_ms': 20_000,
    }),
    'grpc.max_receive_message_length': operators === undefined ? SERVING_BYTES : ADMIN_BYTES,
    interceptors: [
      observeServer(service),
      refuseUnreadable,
      requireCaller(
        service,
        services,
        (call) => listener?.peerOf(call) ?? (certificates === undefined ? 'plaintext' : 'unnamed'),
      ),
      ...(operators === undefined ? [] : [requireOperator(service, operators)]),
    ],
  });
  dropClosedStreams(server);
  for (const { definition, handlers } of services) server.addService(markUnreadable(definition), handlers);
  const health = new HealthImplementation({ '': 'NOT_SERVING' });
  health.addToServer(server);
  service.readiness.onChange((ready) => health.setStatus('', ready ? 'SERVING' : 'NOT_SERVING'));
  if (certificates === undefined)
    await promisify(server.bindAsync).call(server, `${host}:${port}`, ServerCredentials.createInsecure());
  else listener = await listenWithMutualTls(service, server, { host, port, certificates });
  service.onStop(`gRPC port ${port}`, () => {
    listener?.close();
    return stopServer(server);
  });
}

function stopServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = setTimeout(() => {
    server.forceShutdown();
    resolve();
  }, 5_000);
  server.tryShutdown(() => {
    clearTimeout(late);
    resolve();
  });
  return promise;
}
