import type { Brand } from '@brand-data/contracts';
import { coreName } from '../names/names.ts';
import { namesOfBrand } from '../names/names-of-brand.ts';
import { readWebHost, webAddressesOf } from './domains.ts';

/** The shortest first words that count, without spaces. Shorter labels stand for other things too. */
const SHORTEST_START = 3;
/** The most characters of a part of a domain between dots (RFC 1035). */
const LONGEST_LABEL = 63;
const DOT_COM = '.com';
/** A fund has its manager's website. */
const FUND = /\b(?:funds?|opportunities|portfolio|(?<!real estate )investment trust)\b/;

/**
 * Returns the short forms of the current names that are also the company's .com domain: "lumen" for Lumen Technologies at
 * lumen.com, "ea" for Electronic Arts at ea.com. Many names begin with the same word, but only one company has the domain. Another
 * ending proves less: flutter.dev and flutter.com belong to two companies. `form` is normal, `name` as it is written.
 */
export function siteNamesOf(brand: Brand): { form: string; name: string }[] {
  const labels = new Set(webAddressesOf(brand).flatMap(labelOf));
  if (labels.size === 0) return [];
  return namesOfBrand(brand).current.flatMap((name) =>
    shortFormsOf(coreName(name))
      .filter((form) => labels.has(form.replaceAll(' ', '')))
      .map((form) => ({ form, name })),
  );
}

/** Returns the first words of a normal name, without the whole name, as far as they can be a label, and its initials. */
function shortFormsOf(core: string): string[] {
  const words = core.split(' ');
  if (words.length === 1 || FUND.test(core)) return [];
  const forms: string[] = [];
  let form = '';
  let letters = 0;
  for (const word of words.slice(0, -1)) {
    form += form === '' ? word : ` ${word}`;
    letters += word.length;
    if (letters > LONGEST_LABEL) break;
    if (letters >= SHORTEST_START) forms.push(form);
  }
  return [...forms, words.map(([first = '']) => first).join('')];
}

/** Returns the part of a .com domain before its ending, without hyphens. A site below another company's domain is not its own. */
function labelOf(address: string): string[] {
  const { host = '', domain = '' } = readWebHost(address) ?? {};
  if (host !== domain || !domain.endsWith(DOT_COM)) return [];
  return [domain.slice(0, -DOT_COM.length).replaceAll('-', '')];
}
