import { createToken } from '@brand-data/contracts';
import { Fault, grpcStatusOf, type Instant } from '@brand-data/runtime';

type Callback<Response> = (error: unknown, response?: Response) => void;

/**
 * Returns a method of a gRPC client that gets its answers from `answer` instead of a server. If `answer` rejects with a Fault,
 * the client gets the gRPC error that a server would send for it.
 */
export function unaryMethod<Request, Response>(answer: (request: Request) => Promise<Response>) {
  return (request: Request, _metadata: unknown, _options: unknown, callback: Callback<Response>) => {
    answer(request).then(
      (response) => callback(null, response),
      (error: unknown) => callback(grpcStatusOf(error)),
    );
    return { cancel: () => {} };
  };
}

/** Returns a caller with a token of its own. */
export const someCaller = () => ({
  tokens: [createToken()],
  origin: undefined,
  referer: undefined,
  keyId: undefined,
  address: () => '192.0.2.1',
});

export const outOfReach = () => Promise.reject(new Fault('unavailable', 'out of reach'));

/** Returns a clock that moves only when the test moves it. */
export function manualClock() {
  let nowMs = 0;
  const startMs = Date.UTC(2026, 10, 20);
  let sleepers: { untilMs: number; wake: () => void }[] = [];
  return {
    now: (): Instant => ({ monotonicMs: nowMs, wallMs: startMs + nowMs }),
    sleep: (ms: number) => new Promise<void>((wake) => sleepers.push({ untilMs: nowMs + ms, wake })),
    advance: (ms: number) => {
      nowMs += ms;
      const woken = sleepers.filter(({ untilMs }) => untilMs <= nowMs);
      sleepers = sleepers.filter((sleeper) => !woken.includes(sleeper));
      for (const { wake } of woken) wake();
    },
  };
}
