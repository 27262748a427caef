import type { Brand } from '@brand-data/contracts';
import { readWebHost } from './domains.ts';
import { coreName } from './names.ts';

/** The shortest first words that count, without spaces. Shorter labels stand for other things too. */
const SHORTEST_START = 3;
const DOT_COM = '.com';
/** A fund has its manager's website. */
const FUND = /\b(?:funds?|opportunities|portfolio|(?<!real estate )investment trust)\b/;

/** A short form of a name, by which the company's own website is called. */
export interface SiteName {
  /** A normal name. */
  readonly form: string;
  /** The company's name, as it is written. */
  readonly name: string;
}

/**
 * The short forms of the current names that are also the company's .com domain: "lumen" for Lumen Technologies at lumen.com,
 * "ea" for Electronic Arts at ea.com. A form is the name's first words or its initials. Many companies' names begin with the
 * same word, but only one of them has the domain. A domain under another ending proves less: flutter.dev and flutter.com belong
 * to two companies.
 */
export function siteNamesOf({ name, names, links, domains }: Brand): SiteName[] {
  const labels = new Set([...(links?.websites ?? []), ...domains].flatMap(labelOf));
  if (labels.size === 0) return [];
  return [name, ...names].flatMap((each) =>
    shortFormsOf(coreName(each))
      .filter((form) => labels.has(form.replaceAll(' ', '')))
      .map((form) => ({ form, name: each })),
  );
}

/** The first words of a normal name, without the whole name, and its initials. */
function shortFormsOf(core: string): string[] {
  const words = core.split(' ');
  if (words.length === 1 || FUND.test(core)) return [];
  const starts = words.slice(0, -1).map((_, index) => words.slice(0, index + 1).join(' '));
  const initials = words.map(([first = '']) => first).join('');
  return [...starts.filter((start) => start.replaceAll(' ', '').length >= SHORTEST_START), initials];
}

/** The part of a .com domain before its ending, without hyphens. A site below another company's domain is not its own. */
function labelOf(address: string): string[] {
  const { host = '', domain = '' } = readWebHost(address) ?? {};
  if (host !== domain || !domain.endsWith(DOT_COM)) return [];
  return [domain.slice(0, -DOT_COM.length).replaceAll('-', '')];
}
