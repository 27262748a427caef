import type { IdentifierKind } from '../client.ts';
import { BrandDataError } from '../error.ts';
import type { FlatRecord } from '../gen/types.ts';
import { styleSheet } from './dom.ts';
import { whenNear } from './nearness.ts';
import { isThemeChange } from './picture.ts';
import { keyOf, type Source, sharedRecord } from './shared-calls.ts';

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

/** The attributes of both elements. Each is a property too, and a framework may set either. Without a value, the default holds. */
export interface BrandElementAttributes {
  /** A ticker, a domain, a name, an ISIN, a CUSIP, a FIGI or an LEI. */
  identifier?: string | null | undefined;
  /** The only kind that the identifier may be, such as `ticker`. By default any. */
  kind?: IdentifierKind | null | undefined;
  /** The publishable token. */
  token?: string | null | undefined;
  /** The URL of the service, which may be relative to the page. By default the folder of the script. */
  api?: string | null | undefined;
  /** In CSS pixels: the side of a logo, or the width of a card. */
  size?: number | string | null | undefined;
  /** By default `auto`: that of the page. */
  theme?: 'light' | 'dark' | 'auto' | null | undefined;
}

/** Listeners for the events of both elements as attributes, with the prefix that a framework gives them: `on`, or `on:` in Solid. */
export type BrandElementListeners<Prefix extends string> = {
  [Name in keyof BrandElementEventMap as `${Prefix}${Name}`]?: (event: BrandElementEventMap[Name]) => void;
};

type Value<Name extends keyof BrandElementAttributes> = BrandElementAttributes[Name];

/** Servers have no elements. There, the module only exports classes that nobody can use. */
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

/**
 * The folder of this script. If the script comes from a gateway, that is the service: an element without the attribute `api` calls it.
 * A script that is no module has no URL. Bundlers take `new URL(…, import.meta.url)` for a file of the page.
 */
const OWN_API = (import.meta.url ?? '').replace(/[?#].*$/s, '').replace(/[^/]*$/, '');

/**
 * An element that loads the flat record of its `identifier` when it comes near the visible part of the page, and loads it anew if an
 * attribute of the call changes.
 */
export abstract class BrandElement extends Base {
  static readonly observedAttributes = ['identifier', 'kind', 'token', 'api', 'size', 'theme'] as const;

  protected readonly root: ShadowRoot;
  #state: ElementState = { kind: 'empty' };
  /** Aborts the call for the attributes that the element had before. */
  #call = new AbortController();
  /** The key of the source whose record was loaded, or found to be missing. Empty if there is none. */
  #loaded = '';
  #willLoad = false;
  #isNear = false;
  #stopWaiting = () => {};

  /** @param css of the shadow root */
  constructor(css: string) {
    super();
    this.root = this.attachShadow({ mode: 'open' });
    this.root.adoptedStyleSheets = [styleSheet(css)];
    for (const type of ['transitionrun', 'animationstart'])
      this.root.addEventListener(type, (event) => {
        if (isThemeChange(event)) this.render(this.#state);
      });
    this.#takeEarlyProperties();
  }

  /** In CSS pixels. Any other size is the usual one. */
  protected abstract get sizes(): { usual: number; least: number; most: number };

  /** Shows the state. Boxes have the same size in every state. */
  protected abstract render(state: ElementState): void;

  get identifier(): string {
    return this.getAttribute('identifier')?.trim() ?? '';
  }

  set identifier(value: Value<'identifier'>) {
    this.#reflect('identifier', value);
  }

  get kind(): string | null {
    return this.getAttribute('kind');
  }

  set kind(value: Value<'kind'>) {
    this.#reflect('kind', value);
  }

  get token(): string {
    return this.getAttribute('token') ?? '';
  }

  set token(value: Value<'token'>) {
    this.#reflect('token', value);
  }

  get api(): string {
    const api = this.getAttribute('api') || OWN_API;
    return api !== '' && URL.canParse(api, this.baseURI) ? new URL(api, this.baseURI).href : api;
  }

  set api(value: Value<'api'>) {
    this.#reflect('api', value);
  }

  get size(): number {
    const { usual, least, most } = this.sizes;
    const size = Number(this.getAttribute('size') ?? usual);
    return size >= least && size <= most ? size : usual;
  }

  set size(value: Value<'size'>) {
    this.#reflect('size', value);
  }

  get theme(): 'light' | 'dark' | 'auto' {
    const theme = this.getAttribute('theme');
    return theme === 'light' || theme === 'dark' ? theme : 'auto';
  }

  set theme(value: Value<'theme'>) {
    this.#reflect('theme', value);
  }

  /** Loads the record again, for example when the visitor is back on the network. */
  reload(): void {
    this.#loaded = '';
    this.#loadSoon();
  }

  connectedCallback(): void {
    this.#loadSoon();
    if (!this.#isNear)
      this.#stopWaiting = whenNear(this, () => {
        this.#isNear = true;
        this.#loadSoon();
      });
  }

  disconnectedCallback(): void {
    this.#stopWaiting();
    this.#call.abort();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || !this.isConnected) return;
    if (name === 'size' || name === 'theme') this.render(this.#state);
    else this.#loadSoon();
  }

  #reflect(name: string, value: string | number | null | undefined): void {
    if (value == null) this.removeAttribute(name);
    else this.setAttribute(name, String(value));
  }

  /** Reads what a page set on the element before this script defined it: such a value hides the property of the class. */
  #takeEarlyProperties(): void {
    for (const name of BrandElement.observedAttributes) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      Reflect.deleteProperty(this, name);
      this.#reflect(name, value);
    }
  }

  /** Several attributes that change one after another make one call. An element that has moved on its page makes none. */
  #loadSoon(): void {
    if (this.#loaded === keyOf(this.#source())) {
      this.render(this.#state);
      return;
    }
    this.#loaded = '';
    this.#call.abort();
    this.#show(this.identifier === '' ? { kind: 'empty' } : { kind: 'loading' });
    if (this.#willLoad || !this.#isNear) return;
    this.#willLoad = true;
    queueMicrotask(() => {
      this.#willLoad = false;
      if (this.isConnected && this.#state.kind === 'loading') void this.#load();
    });
  }

  #source(): Source {
    const { api, token, identifier } = this;
    return { api, token, identifier, kind: this.kind || undefined };
  }

  async #load(): Promise<void> {
    this.#call = new AbortController();
    const { signal } = this.#call;
    const source = this.#source();
    try {
      const record = await sharedRecord(source, signal);
      if (signal.aborted) return;
      this.#loaded = keyOf(source);
      this.#show({ kind: 'found', record });
      this.dispatchEvent(new CustomEvent('brand-load', { detail: record, bubbles: true }));
    } catch (thrown) {
      if (signal.aborted) return;
      // Any other error comes from a wrong attribute, for example an `api` that is not a URL.
      const error =
        thrown instanceof BrandDataError ? thrown : new BrandDataError('network_failed', String(thrown));
      // A miss is billed. Another failure may pass.
      if (error.code === 'identifier_not_found') this.#loaded = keyOf(source);
      this.#show({ kind: 'failed', error });
      this.dispatchEvent(new CustomEvent('brand-error', { detail: error, bubbles: true }));
    }
  }

  #show(state: ElementState): void {
    this.#state = state;
    this.render(state);
  }
}
