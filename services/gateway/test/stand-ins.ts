import { Fault, grpcStatusOf, type Instant } from '@brand-data/runtime';

type Callback<Response> = (error: unknown, response?: Response) => void;

/**
 * A method of a gRPC client whose server is `answer`. The client gets a Fault of `answer` as the gRPC error that a server sends.
 */
export function unaryMethod<Request, Response>(answer: (request: Request) => Promise<Response>) {
  return (request: Request, _metadata: unknown, _options: unknown, callback: Callback<Response>) => {
    answer(request).then(
      (response) => callback(null, response),
      (error: unknown) => callback(grpcStatusOf(error)),
    );
  };
}

export const outOfReach = () => Promise.reject(new Fault('unavailable', 'out of reach'));

/** A clock that moves only when the test moves it. */
export function manualClock() {
  let nowMs = 0;
  const startMs = Date.UTC(2026, 10, 20);
  return {
    now: (): Instant => ({ monotonicMs: nowMs, wallMs: startMs + nowMs }),
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}
