import { type Html, html } from '@brand-data/runtime/html';
import * as icons from 'simple-icons';
import { list } from '../src/parts.ts';

/** Logos that can be read on light and on dark pages, each with an identifier of its company. */
const COMPANIES: readonly [logo: icons.SimpleIcon, identifier: string][] = [
  [icons.siApple, 'AAPL'],
  [icons.siStripe, 'stripe.com'],
  [icons.siNetflix, 'Netflix'],
  [icons.siMeta, 'META'],
  [icons.siNike, 'NKE'],
  [icons.siAirbnb, 'airbnb.com'],
  [icons.siDropbox, 'DBX US'],
  [icons.siToyota, '7203.T'],
  [icons.siFigma, 'figma.com'],
  [icons.siGithub, 'github.com'],
  [icons.siReddit, 'Reddit'],
  [icons.siFerrari, 'RACE'],
];

/** Returns the picture that the first example of the docs makes, and links to the records of companies, with their logos. */
export function hero(): Html {
  const tiles = COMPANIES.map(
    ([logo, identifier]) =>
      html`<a href="playground#${encodeURIComponent(identifier)}">${drawing(logo)}${logo.title}<small>${identifier}</small></a>`,
  );
  return html`<p class="becomes"><span aria-hidden="true">↳</span>${drawing(icons.siAirbnb)}<span>That is all: the address of the call is the address of the picture.</span></p>
<div class="wall" role="group" aria-label="Companies to try">${list(tiles)}</div>
<p><small>Choose one to see its whole record in the playground. Logos are trademarks of their companies; these drawings are from Simple Icons.</small></p>\n`;
}

/** A black logo takes the colour of text, so that it can be read on dark pages too. */
function drawing({ hex, path }: icons.SimpleIcon): Html {
  const isBlack = /^([012].){3}$/.test(hex);
  const fill = isBlack ? 'currentColor' : `#${hex}`;
  return html`<svg viewBox="0 0 24 24" width="40" height="40" aria-hidden="true"><path fill="${fill}" d="${path}"/></svg>`;
}
