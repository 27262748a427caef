import { BrandDataError } from './error.ts';

/** A call for which several callers may wait. It ends after its deadline, and when nobody waits for it any more. */
export class SharedCall<T> {
  readonly #controller = new AbortController();
  readonly #answer: Promise<T>;
  #waiting = 0;

  /** @param timeoutMs the deadline */
  constructor(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>) {
    this.#answer = this.#run(timeoutMs, work);
  }

  /** Whether nobody waits for the call any more, so that it brings no answer. */
  get isAborted(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Rejects as the call does, or with the reason of the caller's signal. */
  async wait(signal: AbortSignal | undefined): Promise<T> {
    this.#waiting += 1;
    try {
      return await untilAborted(this.#answer, signal);
    } finally {
      this.#waiting -= 1;
      // An element that moves on its page stops waiting and waits again in the same turn.
      setTimeout(() => this.#waiting === 0 && this.#controller.abort());
    }
  }

  async #run(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#controller;
    const timeout = new BrandDataError('timed_out', `The call was not answered within ${timeoutMs} ms.`);
    const timer = setTimeout(() => this.#controller.abort(timeout), timeoutMs);
    try {
      return await work(signal);
    } catch (error) {
      if (error instanceof BrandDataError) throw error;
      if (signal.aborted) throw signal.reason;
      // The reason is left out: some runtimes name the URL in it, and with it the token.
      throw new BrandDataError('network_failed', 'No answer arrived from the service.');
    } finally {
      clearTimeout(timer);
    }
  }
}

function untilAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
