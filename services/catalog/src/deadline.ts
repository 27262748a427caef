import { answerWithin, type Service, unary } from '@brand-data/runtime';

/**
 * Serves a call that answers within `withinMs`, or says `unavailable`. The signal is aborted then, and when the caller
 * gives up: what is still to be done for it need not be.
 */
export function inTime<Request, Response>(
  service: Service,
  withinMs: number,
  handle: (request: Request, signal: AbortSignal) => Promise<Response>,
): ReturnType<typeof unary<Request, Response>> {
  const detail = "the catalogue's database did not answer in time: try again";
  return (call, callback) => {
    const abandoned = new AbortController();
    call.on('cancelled', () => abandoned.abort());
    const serve = unary<Request, Response>(service, async (request) => {
      const late = setTimeout(() => abandoned.abort(), withinMs);
      try {
        return await answerWithin(handle(request, abandoned.signal), { withinMs, detail });
      } finally {
        clearTimeout(late);
      }
    });
    serve(call, callback);
  };
}
