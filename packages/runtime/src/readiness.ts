/**
 * Ready means: can serve. A service is ready once its start is done, until it is told to stop, while every check that
 * was added passes.
 */
export class Readiness {
  readonly #checks = new Map<string, () => unknown>();
  readonly #listeners: ((ready: boolean) => void)[] = [];
  #state: 'starting' | 'open' | 'stopping' = 'starting';

  /** `check` throws or rejects, within a second or so, while the thing cannot be used. */
  add(what: string, check: () => unknown): void {
    this.#checks.set(what, check);
  }

  /** Told at once when the start is done and when the stop begins. */
  onChange(listener: (ready: boolean) => void): void {
    this.#listeners.push(listener);
    listener(this.started);
  }

  get started(): boolean {
    return this.#state === 'open';
  }

  open(): void {
    this.#change('open');
  }

  close(): void {
    this.#change('stopping');
  }

  #change(state: 'open' | 'stopping'): void {
    if (this.#state === 'stopping') return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state === 'open');
  }

  /** What keeps the service from serving; empty: it is ready. */
  async missing(): Promise<string[]> {
    if (this.#state !== 'open') return [this.#state];
    const checks = [...this.#checks].map(async ([what, check]) => {
      try {
        await check();
        return [];
      } catch {
        return [what];
      }
    });
    return (await Promise.all(checks)).flat();
  }
}
