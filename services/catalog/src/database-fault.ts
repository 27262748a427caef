import { Fault, type Service } from '@brand-data/runtime';
import { MongoError } from 'mongodb';

/** A handler whose callers see `unavailable` when the database does not answer; the log says why. */
export function orUnavailable<Request, Response>(
  { log }: Service,
  handle: (request: Request) => Promise<Response>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      if (!(error instanceof MongoError)) throw error;
      log.error({ err: error }, 'the database did not do its part');
      throw new Fault('unavailable', "the catalogue's database did not answer: try again", { cause: error });
    }
  };
}
