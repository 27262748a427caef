import { answerWithin } from '@brand-data/runtime';

/** A handler that answers within `withinMs`, or says `unavailable`. */
export function inTime<Request, Response>(
  withinMs: number,
  handle: (request: Request) => Promise<Response>,
): (request: Request) => Promise<Response> {
  const detail = "the catalogue's database did not answer in time: try again";
  return (request) => answerWithin(handle(request), { withinMs, detail });
}
