import { BrandDataError } from '../error.ts';
import type { FlatRecord } from '../gen/types.ts';
import { sharedRecord } from './shared-calls.ts';

/** What an element shows. */
export type ElementState =
  | { kind: 'empty' }
  | { kind: 'loading' }
  | { kind: 'found'; record: FlatRecord }
  | { kind: 'failed'; error: BrandDataError };

/** The events of both elements. They bubble. */
export interface BrandElementEventMap {
  'brand-load': CustomEvent<FlatRecord>;
  'brand-error': CustomEvent<BrandDataError>;
}

/** The service whose page /elements.js is: an element without the attribute `api` calls it. */
const OWN_API = new URL('.', import.meta.url).href;

/** An element that loads the flat record of its `identifier`, and loads it anew if an attribute of the call changes. */
export abstract class BrandElement extends HTMLElement {
  static readonly observedAttributes: readonly string[] = ['identifier', 'token', 'api', 'size', 'theme'];

  protected readonly root: ShadowRoot;
  #state: ElementState = { kind: 'empty' };
  /** Aborts the call for the attributes that the element had before. */
  #call = new AbortController();
  #willLoad = false;

  constructor(styles: CSSStyleSheet) {
    super();
    this.root = this.attachShadow({ mode: 'open' });
    this.root.adoptedStyleSheets = [styles];
  }

  /** Shows the state. Boxes have the same size in every state. */
  protected abstract render(state: ElementState): void;

  connectedCallback(): void {
    this.#loadSoon();
  }

  disconnectedCallback(): void {
    this.#call.abort();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || !this.isConnected) return;
    if (name === 'size' || name === 'theme') this.render(this.#state);
    else this.#loadSoon();
  }

  protected get identifier(): string {
    return this.getAttribute('identifier')?.trim() ?? '';
  }

  protected get api(): string {
    return this.getAttribute('api') ?? OWN_API;
  }

  protected get theme(): 'light' | 'dark' | 'auto' {
    const theme = this.getAttribute('theme');
    return theme === 'light' || theme === 'dark' ? theme : 'auto';
  }

  /** Several attributes that change one after another make one call. */
  #loadSoon(): void {
    this.#call.abort();
    this.#show(this.identifier === '' ? { kind: 'empty' } : { kind: 'loading' });
    if (this.#willLoad) return;
    this.#willLoad = true;
    queueMicrotask(() => {
      this.#willLoad = false;
      if (this.isConnected && this.identifier !== '') void this.#load();
    });
  }

  async #load(): Promise<void> {
    this.#call = new AbortController();
    const { signal } = this.#call;
    const source = { api: this.api, token: this.getAttribute('token') ?? '', identifier: this.identifier };
    try {
      const record = await sharedRecord(source, signal);
      if (signal.aborted) return;
      this.#show({ kind: 'found', record });
      this.dispatchEvent(new CustomEvent('brand-load', { detail: record, bubbles: true }));
    } catch (thrown) {
      if (signal.aborted) return;
      // Any other error comes from a wrong attribute, for example an `api` that is not a URL.
      const error =
        thrown instanceof BrandDataError ? thrown : new BrandDataError('network_failed', String(thrown));
      this.#show({ kind: 'failed', error });
      this.dispatchEvent(new CustomEvent('brand-error', { detail: error, bubbles: true }));
    }
  }

  #show(state: ElementState): void {
    this.#state = state;
    this.render(state);
  }
}
