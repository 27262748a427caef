import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServiceDefinition,
  status,
} from '@grpc/grpc-js';
import { Counter } from 'prom-client';
import { sparingly } from '../observe/log.ts';
import { perRegistry } from '../observe/metrics.ts';
import type { Service } from '../service/service.ts';
import { methodOf } from './observed.ts';

/** Which services may call each method of a gRPC service. */
export interface CallableService {
  definition: ServiceDefinition;
  /** Names of services by the method's name in `definition`. */
  callers: Readonly<Record<string, readonly string[]>>;
}

/**
 * Who calls: a service by the name in its certificate, a certificate that does not have exactly one service's name, or a
 * connection without a certificate.
 */
export type Peer = { readonly service: string } | 'unnamed' | 'plaintext';

const refusedCalls = perRegistry(
  (registry) =>
    new Counter({
      name: 'grpc_server_refused_callers_total',
      help: 'gRPC requests that this service refused because their caller may not make them. "unnamed": its certificate names no service',
      labelNames: ['grpc_service', 'grpc_method', 'caller'],
      registers: [registry],
    }),
);

/**
 * Refuses every call that `services` does not allow to its caller. The health service is for everyone whom the port lets in, and
 * so are all methods on a port without any proof of identity. Throws if a method names no callers.
 */
export function requireCaller(
  { metrics, log }: Pick<Service, 'metrics' | 'log'>,
  services: readonly CallableService[],
  peerOf: (call: ServerInterceptingCallInterface) => Peer,
): ServerInterceptor {
  const refused = refusedCalls(metrics);
  const warn = sparingly((fields) => log.warn(fields, 'a call was refused: its caller may not make it'));
  const callersOfPath = new Map(
    services.flatMap(({ definition, callers }) =>
      Object.entries(definition).map(([method, { path }]) => {
        if (!callers[method]) throw new Error(`${path} does not say which services may call it`);
        return [path, new Set(callers[method])];
      }),
    ),
  );
  for (const path of callersOfPath.keys()) refused.inc({ ...methodOf(path), caller: 'unnamed' }, 0);
  return ({ path }, call) => {
    const peer = peerOf(call);
    if (peer === 'plaintext' || path.startsWith('/grpc.health.')) return new ServerInterceptingCall(call);
    const caller = peer === 'unnamed' ? peer : peer.service;
    if (callersOfPath.get(path)?.has(caller)) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: () => {
            refused.inc({ ...methodOf(path), caller });
            warn({ method: path, caller, peer: call.getPeer() });
            call.sendStatus({
              code: status.PERMISSION_DENIED,
              details: 'the service that this certificate identifies may not make this call',
            });
          },
        }),
    });
  };
}
