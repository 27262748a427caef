interface Suggesting<T> {
  /** How long nothing is typed before the page searches, in milliseconds. */
  pauseMs: number;
  /** Whether Enter takes the first entry if the visitor has gone to no other. */
  isFirstActive: boolean;
  /** Resolves to the suggestions for a text. The next text aborts it. If it rejects, there are no suggestions. */
  find: (text: string, signal: AbortSignal) => Promise<readonly T[]>;
  /** Makes the list's entry of a suggestion. */
  view: (suggestion: T) => HTMLElement;
  /** Called when a search has ended. `count` is undefined if it failed, and 0 without a text too. */
  onFound: (count: number | undefined) => void;
  /** Called with the suggestion that the visitor takes. */
  onChoice: (suggestion: T) => void;
}

/**
 * Completes what is typed into a field, as the editable combobox with a list in the ARIA Authoring Practices: the arrow keys go through
 * the list, Enter takes an entry, and Escape closes the list. The field keeps the focus.
 */
export class Combobox<T> {
  readonly #field: HTMLInputElement;
  readonly #list: HTMLElement;
  readonly #options: Suggesting<T>;
  #suggestions: readonly T[] = [];
  /** The entry that Enter takes. -1: none. */
  #active = -1;
  /** Aborts the search that is due or under way. */
  #search = new AbortController();

  constructor(field: HTMLInputElement, list: HTMLElement, options: Suggesting<T>) {
    this.#field = field;
    this.#list = list;
    this.#options = options;
    field.addEventListener('input', () => this.search(options.pauseMs));
    field.addEventListener('blur', () => this.#close());
    field.addEventListener('keydown', (event) => {
      if (!event.isComposing && this.#takesKey(event)) event.preventDefault();
    });
    list.addEventListener('mousedown', (event) => event.preventDefault());
    list.addEventListener('click', ({ target }) => {
      const entry = target instanceof Element ? target.closest('[role="option"]') : null;
      if (entry !== null) this.#choose([...list.children].indexOf(entry));
    });
  }

  /** Does what the key is for, and returns whether the field has to ignore it. */
  #takesKey({ key, altKey }: KeyboardEvent): boolean {
    const isOpen = !this.#list.hidden;
    const last = this.#suggestions.length - 1;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      const isDown = key === 'ArrowDown';
      if (altKey && isOpen === isDown) return true;
      if (altKey && isOpen) this.#close();
      else if (!isOpen) this.search(0, altKey ? undefined : isDown ? 'first' : 'last');
      // Before the first entry and after the last one is the field itself.
      else if (isDown) this.#activate(this.#active === last ? -1 : this.#active + 1);
      else this.#activate(this.#active === -1 ? last : this.#active - 1);
      return true;
    }
    if (!isOpen) return false;
    if (key === 'Escape') this.#close();
    else if (key === 'Enter' && this.#active >= 0) this.#choose(this.#active);
    else {
      if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(key)) this.#activate(-1);
      return false;
    }
    return true;
  }

  /** Finds suggestions for what the field has, and shows them if the field has the focus. */
  search(ms = 0, activated?: 'first' | 'last'): void {
    this.#search.abort();
    this.#search = new AbortController();
    this.#activate(-1);
    const { signal } = this.#search;
    setTimeout(() => void this.#find(signal, activated), ms);
  }

  async #find(signal: AbortSignal, activated?: 'first' | 'last'): Promise<void> {
    if (signal.aborted) return;
    const text = this.#field.value.trim();
    const all = text === '' ? [] : await this.#options.find(text, signal).catch(() => undefined);
    // An older search shows nothing, and nor does one whose field has lost the focus.
    if (signal.aborted || document.activeElement !== this.#field) return;
    const found = all ?? [];
    this.#suggestions = found;
    this.#list.replaceChildren(...found.map(this.#options.view));
    for (const [index, entry] of [...this.#list.children].entries()) entry.id = `${this.#list.id}-${index}`;
    this.#show(found.length > 0);
    if (activated === 'last') this.#activate(found.length - 1);
    else if (activated === 'first' || this.#options.isFirstActive) this.#activate(found.length > 0 ? 0 : -1);
    this.#options.onFound(all?.length);
  }

  #choose(index: number): void {
    const chosen = this.#suggestions[index];
    this.#close();
    if (chosen !== undefined) this.#options.onChoice(chosen);
  }

  #close(): void {
    this.#search.abort();
    this.#show(false);
  }

  #show(isOpen: boolean): void {
    this.#list.hidden = !isOpen;
    this.#field.ariaExpanded = String(isOpen);
    this.#activate(-1);
    if (isOpen) this.#list.scrollIntoView({ block: 'nearest' });
  }

  #activate(index: number): void {
    this.#active = index;
    const entries = [...this.#list.children];
    for (const [at, entry] of entries.entries()) entry.ariaSelected = String(at === index);
    this.#field.setAttribute('aria-activedescendant', entries[index]?.id ?? '');
    entries[index]?.scrollIntoView({ block: 'nearest' });
  }
}
