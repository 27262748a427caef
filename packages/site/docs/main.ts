/** What the pages of the documentation do with scripts. Without scripts they can be read all the same. */

import { element } from '@brand-data/client/source/dom';
import { copy } from '../shared/copy.ts';
import { startSearch } from './search.ts';

startSearch();

// Wide windows show the list of pages at all times.
const menu = document.querySelector<HTMLDetailsElement>('#menu');
const wide = matchMedia('(min-width: 60rem)');
const adapt = () => menu?.toggleAttribute('open', wide.matches);
wide.addEventListener('change', adapt);
adapt();

// Browsers give the clipboard only to pages from https and from the same machine.
if (navigator.clipboard)
  for (const caption of document.querySelectorAll('.code > figcaption')) {
    const button = element('button', { type: 'button' }, 'Copy');
    const code = caption.parentElement?.querySelector('code');
    button.addEventListener('click', () => copy(code?.textContent ?? '', button));
    caption.append(button);
  }
