import type { BrandDataError } from '../error.ts';
import type { FlatRecord } from '../gen/types.ts';
import { BrandElement, type ElementState } from './brand-element.ts';
import { element, safeUrl } from './dom.ts';
import { HOST_STYLES, letterOf, logoOf, PICTURE_STYLES, skeleton, type Theme, themeOf } from './picture.ts';

const LOGO_SIZE = 48;

// Every line has its place in every state, so that nothing on the page moves when the record arrives.
const STYLES = `
${HOST_STYLES}
:host { max-inline-size: 100%; }
article {
  box-sizing: border-box;
  display: grid;
  grid-template: 3rem 4.5rem 1.5rem / 3rem 1fr;
  gap: 0.5rem 0.75rem;
  max-inline-size: 100%;
  block-size: 12rem;
  padding: 1rem;
  overflow: hidden;
  contain: layout paint style;
  border: 1px solid light-dark(#d5d9e0, #3a414d);
  border-radius: 0.75rem;
  background: light-dark(#fff, #111);
  font: 400 0.875rem/1.5rem system-ui, sans-serif;
  text-align: start;
}
.head, .foot { min-inline-size: 0; }
.foot { grid-column: 1 / -1; display: flex; gap: 0.75rem; justify-content: space-between; }
p { margin: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-block-size: 1.5rem; }
.name { font-weight: 600; font-size: 1rem; }
.facts, .foot { color: light-dark(#5b6472, #a7b0be); }
.description { grid-column: 1 / -1; white-space: normal; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; }
a { color: inherit; }
.logo { font-size: 3rem; line-height: 0; }
${PICTURE_STYLES}
`;

/** `<brand-card identifier="AAPL" token="pk_…">`: a company's logo, name, key facts and website. */
export class BrandCard extends BrandElement {
  constructor() {
    super(STYLES);
  }

  /** The width. */
  protected override get sizes() {
    return { usual: 320, least: 200, most: 1_000 };
  }

  protected override render(state: ElementState): void {
    const card = element('article', { class: 'frame', part: 'card' });
    card.style.inlineSize = `${this.size}px`;
    const hadFocus = this.root.activeElement !== null;
    this.root.replaceChildren(card);
    const { picture, name, facts = '', description = '', foot = [] } = this.#contentOf(state, themeOf(card));
    if (name !== '') card.ariaLabel = name;
    if (state.kind === 'loading') card.ariaBusy = 'true';
    card.append(
      element('span', { class: 'logo', 'aria-hidden': 'true' }, picture),
      element(
        'div',
        { class: 'head' },
        element('p', { class: 'name', part: 'name' }, name),
        element('p', { class: 'facts', part: 'facts' }, facts),
      ),
      element('p', { class: 'description', part: 'description' }, description),
      element('div', { class: 'foot', part: 'foot' }, ...foot),
    );
    if (hadFocus) this.root.querySelector('a')?.focus({ preventScroll: true });
  }

  #contentOf(state: ElementState, theme: Theme): Content {
    const { identifier, api } = this;
    if (state.kind === 'failed')
      return { picture: letterOf(identifier), name: identifier, description: explanationOf(state.error) };
    if (state.kind !== 'found') return { picture: skeleton(state.kind), name: identifier };
    const { record } = state;
    return {
      picture: logoOf({ url: record.logo, size: LOGO_SIZE, theme, api, name: record.name }),
      name: record.name,
      facts: cardFacts(record),
      description: record.description,
      foot: footOf(record, api),
    };
  }
}

interface Content {
  picture: HTMLElement;
  name: string;
  facts?: string;
  description?: string;
  foot?: readonly HTMLElement[];
}

function cardFacts({ symbol, exchange, industry, sector }: FlatRecord): string {
  const listing = [exchange, symbol].filter((part) => part !== null).join(': ');
  return [listing, industry ?? sector ?? ''].filter((part) => part !== '').join(' · ');
}

function footOf({ website, headquarters }: FlatRecord, api: string): HTMLElement[] {
  const place = [headquarters?.city, headquarters?.country].filter((part) => part != null).join(', ');
  const url = safeUrl(website, api);
  const link =
    url === undefined
      ? ''
      : element('a', { href: url.href, part: 'link' }, url.hostname.replace(/^www\./, ''));
  return [element('p', {}, place), element('p', {}, link)];
}

function explanationOf({ code }: BrandDataError): string {
  return code === 'identifier_not_found'
    ? 'No company is known by this name.'
    : 'This company cannot be shown now.';
}
