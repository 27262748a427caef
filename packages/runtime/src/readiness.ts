/**
 * Tells whether a service is ready. It is ready from the end of its start until it is told to stop, as long as every check
 * passes.
 */
export class Readiness {
  readonly #checks = new Map<string, () => unknown>();
  readonly #listeners: ((ready: boolean) => void)[] = [];
  #state: 'starting' | 'open' | 'stopping' = 'starting';

  /** `check` throws or rejects, within a second or so, while the dependency cannot be used. */
  add(what: string, check: () => unknown): void {
    this.#checks.set(what, check);
  }

  /** Calls `listener` now, when the start is done, and when the stop begins. */
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

  /** The reasons why the service is not ready; empty when it is. */
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
