/** The search over all pages of the documentation. */

import { element } from '@brand-data/client/source/dom';
import { Combobox } from '../shared/combobox.ts';
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
  const box = new Combobox<Section>(input, list, {
    pauseMs: 0,
    isFirstActive: true,
    async find(text) {
      loading ??= load();
      try {
        return find(await loading, text);
      } catch (error) {
        loading = undefined;
        throw error;
      }
    },
    view: ({ page, heading, text }) =>
      element(
        'div',
        { role: 'option' },
        element('strong', {}, heading),
        heading === page ? '' : element('small', {}, page),
        element('span', { class: 'excerpt' }, text),
      ),
    onFound(found) {
      const text = found === 0 ? 'Nothing found' : `${found} found`;
      count.textContent =
        found === undefined ? 'The search cannot be loaded' : input.value.trim() === '' ? '' : text;
    },
    onChoice({ path }) {
      location.assign(new URL(path, ROOT));
      input.blur();
    },
  });
  input.addEventListener('focus', () => box.search());
  input.addEventListener('blur', () => {
    count.textContent = '';
  });
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
}
