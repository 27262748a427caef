/** A service is ready from the end of its start until its stop begins, while every check passes. */
export class Readiness {
  readonly #checks = new Map<string, () => unknown>();
  readonly #listeners: ((ready: boolean) => void)[] = [];
  #state: 'starting' | 'open' | 'stopping' = 'starting';

  /** `check` throws, or rejects within about a second, while the service cannot use the dependency that `what` names. */
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

  /** Why the service is not ready: its state, or the dependencies whose checks fail. Empty if it is ready. */
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
