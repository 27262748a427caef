import {
  type ClientOptions,
  InterceptingCall,
  type Interceptor,
  ServerInterceptingCall,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { type Span, SpanKind, type SpanOptions } from '@opentelemetry/api';
import { Counter, Histogram } from 'prom-client';
import { perRegistry } from '../observe/metrics.ts';
import {
  endSpan,
  extractSpanContext,
  startChildSpan,
  startSpanBelow,
  traceHeadersOf,
  withSpan,
} from '../observe/tracing.ts';
import type { Service } from '../service/service.ts';

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Method = ReturnType<typeof methodOf>;

/** The names and labels are those of the gRPC middlewares in other languages. */
function grpcMetrics(side: 'server' | 'client', when: { handled: string; handling: string }) {
  return perRegistry((registry) => {
    const handled = new Counter({
      name: `grpc_${side}_handled_total`,
      help: when.handled,
      labelNames: ['grpc_service', 'grpc_method', 'grpc_code'],
      registers: [registry],
    });
    const handling = new Histogram({
      name: `grpc_${side}_handling_seconds`,
      help: when.handling,
      labelNames: ['grpc_service', 'grpc_method'],
      buckets: BUCKETS,
      registers: [registry],
    });
    return (method: Method, code: status, began: number) => {
      handled.inc({ ...method, grpc_code: nameOfCode(code) });
      handling.observe(method, (performance.now() - began) / 1000);
    };
  });
}

const serverMetrics = grpcMetrics('server', {
  handled: 'gRPC requests that this service answered, by code',
  handling: 'Seconds from a gRPC request to its answer, measured in the server',
});
const clientMetrics = grpcMetrics('client', {
  handled: 'gRPC requests that this service made, by the code of the answer',
  handling: 'Seconds from a gRPC request to its answer, measured in the client',
});

type Observer = Pick<Service, 'metrics' | 'tracer'>;

/** Counts, times and traces the calls that a server answers. */
export function observeServer({ metrics, tracer }: Observer): ServerInterceptor {
  const observe = serverMetrics(metrics);
  return ({ path }, call) => {
    const began = performance.now();
    const method = methodOf(path);
    let span: Span | undefined;
    let isOver = false;
    const end = (code: status) => {
      if (isOver) return;
      isOver = true;
      observe(method, code, began);
      // A caller's mistake is not a failure of the server.
      endCall(span, code, SERVER_FAILURES.has(code));
    };
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => {
            const caller = tracer && extractSpanContext((name) => metadata.get(name)[0]?.toString());
            if (caller)
              span = startSpanBelow(tracer, path.slice(1), spanOptions(SpanKind.SERVER, method), [caller]);
            // The handler of a stream of requests is called from here,
            withSpan(span, () => proceed(metadata));
          },
          // and that of a single request from here.
          onReceiveHalfClose: (proceed) => withSpan(span, proceed),
          onCancel: () => end(status.CANCELLED),
        }),
      sendStatus: (sent, proceed) => {
        end(sent.code ?? status.UNKNOWN);
        proceed(sent);
      },
    });
  };
}

/** Counts, times and traces the calls of a channel. */
export function observeClient({ metrics, tracer }: Observer): Pick<ClientOptions, 'interceptors'> {
  const observe = clientMetrics(metrics);
  const interceptor: Interceptor = (options, nextCall) => {
    const { path } = options.method_definition;
    const method = methodOf(path);
    return new InterceptingCall(nextCall(options), {
      start: (metadata, _listener, next) => {
        const began = performance.now();
        const span = tracer && startChildSpan(tracer, path.slice(1), spanOptions(SpanKind.CLIENT, method));
        if (span) for (const [name, value] of Object.entries(traceHeadersOf(span))) metadata.set(name, value);
        next(metadata, {
          onReceiveStatus: (received, proceed) => {
            observe(method, received.code, began);
            endCall(span, received.code, received.code !== status.OK);
            proceed(received);
          },
        });
      },
    });
  };
  return { interceptors: [interceptor] };
}

const SERVER_FAILURES: ReadonlySet<status> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

function endCall(span: Span | undefined, code: status, isFailure: boolean): void {
  if (!span) return;
  span.setAttribute('rpc.grpc.status_code', code);
  endSpan(span, isFailure ? nameOfCode(code) : undefined);
}

function nameOfCode(code: status): string {
  return status[code] ?? 'UNKNOWN';
}

/** "/package.Service/Method" */
export function methodOf(path: string) {
  const [, service = '', method = ''] = path.split('/');
  return { grpc_service: service, grpc_method: method };
}

function spanOptions(kind: SpanKind, { grpc_service, grpc_method }: Method): SpanOptions {
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': grpc_service, 'rpc.method': grpc_method };
  return { kind, attributes };
}
