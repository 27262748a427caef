import {
  type handleClientStreamingCall,
  type handleUnaryCall,
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { Fault } from './fault.ts';
import { observeServer } from './grpc-observed.ts';
import { type Operators, requireOperator } from './grpc-operator.ts';
import { grpcStatusOf } from './grpc-status.ts';
import type { Service } from './service.ts';

/** What a caller sends beside its request. */
export type CallMetadata = Pick<Metadata, 'get'>;

/** A gRPC handler made of a function from request to response. It logs defects. */
export function unary<Request, Response>(
  service: Service,
  handle: (request: Request, metadata: CallMetadata) => Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    handle(call.request, call.metadata).then(
      (response) => callback(null, response),
      (error: unknown) => {
        if (!(error instanceof Fault))
          service.log.error({ err: error, method: call.getPath() }, 'a call failed');
        callback(grpcStatusOf(error));
      },
    );
  };
}

/**
 * A gRPC handler made of a function from a stream of requests to one response. If the caller breaks the stream off, reading the
 * next request throws. The handler logs defects.
 */
export function clientStream<Request, Response>(
  service: Service,
  handle: (requests: AsyncIterable<Request>, metadata: CallMetadata) => Promise<Response>,
): handleClientStreamingCall<Request, Response> {
  return (call, callback) => {
    handle(call, call.metadata).then(
      (response) => callback(null, response),
      (error: unknown) => {
        if (!(error instanceof Fault) && !call.cancelled)
          service.log.error({ err: error, method: call.getPath() }, 'a call failed');
        callback(grpcStatusOf(error));
      },
    );
  };
}

export interface GrpcServer {
  host: string;
  port: number;
  services: { definition: ServiceDefinition; handlers: UntypedServiceImplementation }[];
  /** If given, this is an admin port, which answers only operators. */
  operators?: Operators;
}

/**
 * Serves `services` and the standard health service, and measures and traces their calls. At the stop, calls in flight may
 * finish.
 */
export async function startGrpcServer(
  service: Service,
  { host, port, services, operators }: GrpcServer,
): Promise<void> {
  const server = new Server({
    // Clients look for new replicas when a connection ends.
    'grpc.max_connection_age_ms': 60_000,
    'grpc.max_connection_age_grace_ms': 20_000,
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
    interceptors: [
      observeServer(service),
      ...(operators === undefined ? [] : [requireOperator(service, operators)]),
    ],
  });
  for (const { definition, handlers } of services) server.addService(definition, handlers);
  const health = new HealthImplementation({ '': 'NOT_SERVING' });
  health.addToServer(server);
  service.readiness.onChange((ready) => health.setStatus('', ready ? 'SERVING' : 'NOT_SERVING'));
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  service.onStop(`gRPC port ${port}`, () => stopServer(server));
}

function stopServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, 5_000);
    server.tryShutdown(() => {
      clearTimeout(deadline);
      resolve();
    });
  });
}
