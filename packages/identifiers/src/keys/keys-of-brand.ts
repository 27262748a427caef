import { type Brand, BrandType } from '@brand-data/contracts';
import { coreName, nameForms, normalName } from '../names/names.ts';
import { type NamesOfBrand, namesOfBrand, withoutYears } from '../names/names-of-brand.ts';
import { shortFirmNames, weakFormsOf } from '../names/weak-names.ts';
import { type BrandKey, compareStrengths, type Strength } from './brand-key.ts';
import { domainKeys, readWebHost, webAddressesOf } from './domains.ts';
import { leadingWordsOf } from './leading-words.ts';
import { securityKeys } from './security-ids.ts';
import { formerTickerKeys, tickerKeys } from './tickers.ts';

/**
 * Returns all keys that find a brand, the strongest first. Each key comes once, with its greatest strength. Only a key that is leading
 * words and the website comes for both.
 */
export function keysOfBrand(brand: Brand): BrandKey[] {
  if (brand.type === BrandType.OTHER_SECURITY) return keysOfOtherSecurity(brand);
  const names = namesOfBrand(brand);
  // Only names and the firm's name find a manager. The firm's domain and ticker belong to the company.
  const keys =
    brand.type === BrandType.SUPERINVESTOR
      ? investorKeys(names.current, brand)
      : [
          ...securityKeys(brand),
          ...tickerKeys(brand),
          ...formerTickerKeys(brand),
          ...domainKeys(brand),
          ...companyNameKeys(names),
          ...weakNameKeys(names),
          ...siteNamesOf(brand).map(({ form, name }) => nameKey(form, 'site_name', name)),
          ...leadingWordKeys(names.current),
        ];
  const strengths = new Map<string, Strength>();
  return keys
    .toSorted((a, b) => compareStrengths(a.strength, b.strength))
    .filter(({ key, strength }) => {
      const known = strengths.get(key);
      // If a subsidiary has the website too, leading words decide.
      const isFurther = known === undefined || (known === 'site_name' && strength === 'leading_words');
      if (isFurther) strengths.set(key, strength);
      return isFurther;
    });
}

/** Only a fund is known by its whole name. The names of other securities are those of their companies. */
function keysOfOtherSecurity(brand: Brand): BrandKey[] {
  const name = brand.category === 'fund' ? normalName(brand.name) : '';
  const named = name === '' ? [] : [nameKey(name, 'exact', brand.name)];
  return [...securityKeys(brand), ...tickerKeys(brand), ...named];
}

/** Returns the keys of a company's current and former names, without weak keys. A key may come more than once. */
function companyNameKeys({ current, former }: NamesOfBrand): BrandKey[] {
  const keys = (names: readonly string[]) => names.flatMap((name) => nameKeys('name', name));
  const formerly = former.flatMap((name) => [...new Set([withoutYears(name), name])]);
  return [...keys(current), ...keys(formerly).map((key) => ({ ...key, strength: 'former' as const }))];
}

/** Returns the weak keys of a company's current names: without words such as "Group", and without spaces. */
function weakNameKeys({ current }: NamesOfBrand): BrandKey[] {
  return current.flatMap((name) => {
    const { withoutGroupWords, joined } = weakFormsOf(name);
    return [
      ...withoutGroupWords.map((form) => nameKey(form, 'group_word', name)),
      ...joined.map((form) => nameKey(form, 'spacing', name)),
    ];
  });
}

/** More names than people shorten. Each gives up to three keys. */
const MOST_SHORTENED = 8;

function leadingWordKeys(names: readonly string[]): BrandKey[] {
  return names
    .slice(0, MOST_SHORTENED)
    .flatMap((name) => leadingWordsOf(name).map((form) => nameKey(form, 'leading_words', name)));
}

/** The rank from which a superinvestor is found by a single word of the firm's name: that of a company worth 2 billion dollars. */
const KNOWN_BY_ONE_WORD = 660;

/**
 * Returns the keys of a superinvestor's and the firm's names, and those of the firm's short names. "Omega" means many things
 * beside Omega Advisors. Therefore a single word counts only if it is the surname too ("Soros"), or if no source says that the
 * superinvestor is little known.
 */
function investorKeys(
  names: readonly string[],
  { rank, derivedFields }: Pick<Brand, 'rank' | 'derivedFields'>,
): BrandKey[] {
  const isKnown = rank >= KNOWN_BY_ONE_WORD || rank === 0 || derivedFields.includes('rank');
  const short = names.map((name) => ({ name, forms: shortFirmNames(name) }));
  const people = short.filter(({ forms }) => forms.length === 0).map(({ name }) => coreName(name));
  const isSafe = (form: string) =>
    form.includes(' ') || isKnown || people.some((person) => person.endsWith(` ${form}`));
  return short.flatMap(({ name, forms }) => [
    ...nameKeys('superinvestor', name),
    ...forms.filter(isSafe).map((form): BrandKey => {
      return { key: `superinvestor:${form}`, kind: 'superinvestor', strength: 'leading_words', value: name };
    }),
  ]);
}

function nameKey(form: string, strength: Strength, value: string): BrandKey {
  return { key: `name:${form}`, kind: 'name', strength, value };
}

function nameKeys(kind: 'name' | 'superinvestor', value: string): BrandKey[] {
  return nameForms(value).map(({ form, strength }) => ({ key: `${kind}:${form}`, kind, strength, value }));
}

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
function siteNamesOf(brand: Brand): { form: string; name: string }[] {
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
