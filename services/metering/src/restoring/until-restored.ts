import {
  GRPC_SERVICES,
  type ReplayUsageRequest,
  type ReplayUsageResponse,
  type ReportedUsage,
} from '@brand-data/contracts';
import {
  type BackendPorts,
  clientStream,
  endRestore,
  Fault,
  type Mongo,
  type Service,
  untilRestored,
} from '@brand-data/runtime';
import { billReportedUsage } from './bill-reported-usage.ts';

/** Resolves when metering's database is not being restored. Until then its admin port answers ReplayUsage alone. */
export function untilMeteringRestored(
  service: Service,
  mongo: Mongo,
  adminPort: ReturnType<BackendPorts['adminPort']>,
): Promise<void> {
  const handlers = {
    replayUsage: clientStream<ReplayUsageRequest, ReplayUsageResponse>(service, async (requests) => {
      const stream = requests[Symbol.asyncIterator]();
      const { value: first, done } = await stream.next();
      if (done) throw cutOff();
      return endRestore(mongo.db, first.restoreId, () =>
        billReportedUsage(mongo, messagesOf(first, { [Symbol.asyncIterator]: () => stream })),
      );
    }),
  };
  return untilRestored(service, mongo, {
    ...adminPort,
    services: [{ ...GRPC_SERVICES.MeteringAdminService, handlers }],
  });
}

/**
 * Yields the messages of all requests. Throws if the last request is not complete, because gRPC ends a stream that was cut off as
 * if it were whole.
 */
async function* messagesOf(
  first: ReplayUsageRequest,
  rest: AsyncIterable<ReplayUsageRequest>,
): AsyncGenerator<ReportedUsage> {
  yield* first.messages;
  let { complete } = first;
  for await (const request of rest) {
    yield* request.messages;
    complete = request.complete;
  }
  if (!complete) throw cutOff();
}

function cutOff(): Fault {
  return new Fault('failed_precondition', 'the usage was cut off, so nothing is billed: restore again');
}
