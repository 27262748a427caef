import { answerWithin, type Service, unary } from '@brand-data/runtime';
import type { OperatorCallContext } from './admin-parts.ts';

/** Deadline of operators' calls. */
export const ANSWER_DEADLINE_MS = 20_000;
/** Deadline of calls that read the whole collection. */
export const SCAN_DEADLINE_MS = 60_000;

/**
 * Serves a call, and answers `unavailable` if the handler has no answer within `deadlineMs`. The handler's signal is
 * aborted at the deadline and when the caller cancels, so that the handler can stop its work.
 */
export function withDeadline<Request, Response>(
  service: Service,
  deadlineMs: number,
  handle: (request: Request, call: OperatorCallContext) => Promise<Response>,
): ReturnType<typeof unary<Request, Response>> {
  const detail = "the catalogue's database did not answer in time: try again";
  return (call, callback) => {
    const abandoned = new AbortController();
    call.on('cancelled', () => abandoned.abort());
    const serve = unary<Request, Response>(service, async (request, metadata) => {
      const deadline = setTimeout(() => abandoned.abort(), deadlineMs);
      try {
        return await answerWithin(handle(request, { signal: abandoned.signal, metadata }), {
          withinMs: deadlineMs,
          detail,
        });
      } finally {
        clearTimeout(deadline);
      }
    });
    serve(call, callback);
  };
}
