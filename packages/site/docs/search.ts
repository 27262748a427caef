/** The search over all pages of the documentation: a text box with a list of sections, as the ARIA pattern "combobox" describes. */

import { element } from '@brand-data/client/source/dom';
import type { Section } from '../src/read-html.ts';

const MOST_FOUND = 8;
const ROOT = new URL('..', import.meta.url);

interface Indexed extends Section {
  headingWords: string[];
  words: string[];
}

/** Loaded when the visitor first uses the search. */
let loading: Promise<Indexed[]> | undefined;

async function load(): Promise<Indexed[]> {
  const answer = await fetch(new URL('docs/sections.json', ROOT));
  if (!answer.ok) throw new Error(`the search answers ${answer.status}`);
  const sections: Section[] = await answer.json();
  return sections.map((section) => ({
    ...section,
    headingWords: wordsOf(section.heading),
    words: wordsOf(`${section.page} ${section.text}`),
  }));
}

/** In lower case and without accents, so that "Nestle" finds "Nestlé". */
const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** Returns the sections in which each word of the query begins a word. Those with the words in their heading come first. */
function find(sections: readonly Indexed[], query: string): Section[] {
  const asked = wordsOf(query);
  const scoreOf = ({ headingWords, words }: Indexed) => {
    const scores = asked.map((word) => {
      if (headingWords.includes(word)) return 9;
      if (headingWords.some((each) => each.startsWith(word))) return 6;
      if (words.includes(word)) return 2;
      return words.some((each) => each.startsWith(word)) ? 1 : 0;
    });
    return scores.includes(0) ? 0 : scores.reduce<number>((sum, score) => sum + score, 0);
  };
  return sections
    .map((section) => ({ section, score: asked.length === 0 ? 0 : scoreOf(section) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MOST_FOUND)
    .map(({ section }) => section);
}

export function startSearch(): void {
  const input = document.querySelector<HTMLInputElement>('#search');
  const list = document.querySelector<HTMLElement>('#found');
  const count = document.querySelector<HTMLElement>('#found-count');
  if (!input || !list || !count) return;
  let found: Section[] = [];
  let active = 0;

  const show = () => {
    const options = found.map(({ page, heading, text }, index) =>
      element(
        'div',
        { role: 'option', id: `found-${index}`, 'aria-selected': String(index === active) },
        element('strong', {}, heading),
        heading === page ? '' : element('small', {}, page),
        element('span', { class: 'excerpt' }, text),
      ),
    );
    list.replaceChildren(...options);
    list.hidden = found.length === 0;
    input.setAttribute('aria-expanded', String(found.length > 0));
    if (found.length > 0) input.setAttribute('aria-activedescendant', `found-${active}`);
    else input.removeAttribute('aria-activedescendant');
    list.children[active]?.scrollIntoView({ block: 'nearest' });
  };
  const close = () => {
    found = [];
    count.textContent = '';
    show();
  };
  const open = (section: Section | undefined) => {
    if (section === undefined) return;
    location.assign(new URL(section.path, ROOT));
    close();
    input.blur();
  };
  const look = async () => {
    loading ??= load();
    try {
      const sections = await loading;
      // The text may have changed while the sections were loaded.
      found = find(sections, input.value);
      active = 0;
      show();
      count.textContent =
        input.value.trim() === '' ? '' : found.length === 0 ? 'Nothing found' : `${found.length} found`;
    } catch {
      loading = undefined;
      count.textContent = 'The search cannot be loaded';
    }
  };
  const KEYS: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => open(found[active]),
    Escape: close,
  };
  const move = (by: number) => {
    if (found.length === 0) return;
    active = (active + by + found.length) % found.length;
    show();
  };

  input.addEventListener('input', look);
  input.addEventListener('focus', look);
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    const act = KEYS[event.key];
    if (act === undefined || event.isComposing) return;
    if (event.key !== 'Escape') event.preventDefault();
    act();
  });
  // A press on the list would take the focus from the text box, and so close the list before the click.
  list.addEventListener('pointerdown', (event) => event.preventDefault());
  list.addEventListener('click', ({ target }) => {
    const option = target instanceof Element ? target.closest('[role=option]') : null;
    open(found[[...list.children].indexOf(option as Element)]);
  });
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
}
