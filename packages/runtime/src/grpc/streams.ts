import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type CallOptions,
  type ClientReadableStream,
  type ClientWritableStream,
  type handleServerStreamingCall,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { Fault } from '../base/fault.ts';
import type { Service } from '../service/service.ts';
import { type OperatorOptions, setOperator } from './client.ts';
import { errorOfStatus, grpcStatusOf } from './status.ts';

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
      if (!(error instanceof Fault))
        service.log.error({ err: error, method: call.getPath() }, 'a call failed');
      call.emit('error', grpcStatusOf(error));
    }
  };
}

interface StreamOptions extends OperatorOptions {
  /** For the whole stream. */
  deadlineMs: number;
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
  options: StreamOptions,
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
    callback: (error: ServiceError | null, response: Response) => void,
  ) => ClientWritableStream<Request>,
  messages: AsyncIterable<Request>,
  options: StreamOptions,
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

function callOptions({ deadlineMs, ...operator }: StreamOptions) {
  const metadata = new Metadata();
  setOperator(metadata, operator);
  return { metadata, deadline: Date.now() + deadlineMs };
}
