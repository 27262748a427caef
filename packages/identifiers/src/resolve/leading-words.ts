import { readLeadingWords, wordsLeftOut } from '../keys/leading-words.ts';
import { isCommonAsName } from '../names/common-words.ts';
import { isFirstWordOfMany, isPlace } from '../names/places.ts';
import { GIVEN_NAMES } from '../names/published-names.ts';
import { isCashtag, isIndexCode, type ReadOptions } from '../read/readings.ts';
import lists from './leading-words.json' with { type: 'json' };
import { type Candidate, compareRanked, isBareRank, RANK_OF_LISTED } from './rank.ts';

/** By how much a company must be better known than all others whose names begin so: about nine times their market value. */
export const CLEARLY_BETTER_KNOWN = 115;
/** The rank from which a company is meant by words that may mean something else too: 20 billion dollars. */
const LARGE = 780;
/** The rank from which a company is meant by a place and an adjective, if no other one begins so: 10 billion dollars. */
const LARGE_AT_PLACE = 740;
/** Fewer letters abbreviate many things: "ECB". */
const SHORTEST = 4;
/** From so many letters on, two words or more mean a company that alone has them: "Thermo Fisher". */
const LONG = 7;
/** If so many names begin with the words, these mean none of them. A look-up need not find more candidates. */
export const TOO_MANY_LED = 6;

/** Words that tell what a company does, and are no part of what people call it. */
const KINDS = new Set(lists.kinds.split(', '));
/** Words that set the whole company apart from those with a part of its business: "Honeywell International", "Honeywell Aerospace". */
const EVERYWHERE = new Set(lists.everywhere.split(', '));
/** Words that begin names and mean much else. Alone, they mean no company by its leading words. */
const COMMON = new Set(lists.common.split(', '));
const PLACES = new Set(lists.places.split(', '));
/** Places, and words with which names begin that are not known by them. */
const UNSPECIFIC = PLACES.union(new Set(lists.vague.split(', ')));

/**
 * Returns the keys of companies, and of superinvestors' firms, whose names may begin with the identifier. Empty if the words mean no
 * one company: a place, a common word.
 */
export function leadingKeysToRead(
  identifier: string,
  options: ReadOptions,
): { readonly key: string; readonly kind: 'name' | 'superinvestor' }[] {
  const leading = readLeadingWords(identifier);
  if (leading === undefined || isUnspecific(leading) || COMMON.has(leading)) return [];
  if (isIndexCode(identifier) || isCashtag(identifier)) return [];
  // The keys of firms hold all words but "Capital" and the like, so "Tiger Global" says enough.
  const firms = options.superinvestors ? (['superinvestor'] as const) : [];
  const isVague =
    areUnspecific(leading) && !leading.split(' ').some((word) => PLACES.has(word) || isPlace(word));
  return (isVague ? firms : (['name', ...firms] as const))
    .filter((kind) => (options.kind ?? kind) === kind)
    .map((kind) => ({ key: `${kind}:${leading}`, kind }));
}

/** Checks whether words mean no one company: a place, an adjective, a common word. */
export function isUnspecific(words: string): boolean {
  return UNSPECIFIC.has(words) || isCommonAsName(words) || isFirstWordOfMany(words);
}

function areUnspecific(leading: string): boolean {
  return leading.split(' ').every(isUnspecific);
}

/** Returns which of the candidates is meant by this key of leading words. "Leading words" in packages/identifiers/README.md tells the rule. */
export function meantByLeadingWords(key: string, candidates: readonly Candidate[]): Candidate | undefined {
  const led = candidates
    .filter(
      ({ rank, keys }) =>
        !isBareRank(rank) && keys.some((own) => own.key === key && own.strength === 'leading_words'),
    )
    .sort(compareRanked);
  const leading = key.slice(key.indexOf(':') + 1);
  const leavesOut = (company: Candidate, areMeant: (words: string[]) => boolean) =>
    namesOf(company).some((name) => areMeant(wordsLeftOut(name, leading) ?? []));
  // A subsidiary is named after its parent and a place: "Molson Coors Canada".
  const parents = led.filter((company) => !leavesOut(company, (words) => isPlace(words.join(' '))));
  const [best, ...others] = parents.length > 0 ? parents : led;
  if (best === undefined || led.length >= TOO_MANY_LED) return undefined;
  const names = new Set(namesOf(best));
  const rival = others.find((other) => !namesOf(other).some((name) => names.has(name)));
  const isEverywhere = (company: Candidate) =>
    leavesOut(company, ([first = '', ...more]) => more.length === 0 && EVERYWHERE.has(first));
  const isWhole = best.rank >= LARGE && isEverywhere(best) && !others.some(isEverywhere);
  if (rival !== undefined && best.rank - rival.rank < CLEARLY_BETTER_KNOWN && !isWhole) return undefined;
  if (key.startsWith('superinvestor:')) return best;
  const isOfBusiness = saysOnlyWhatItDoes(leading, names);
  // "Canadian National" is Canadian National Railway, the only large company so called.
  if (areUnspecific(leading)) return isOfBusiness && !rival && best.rank >= LARGE_AT_PLACE ? best : undefined;
  const isLong = leading.includes(' ') && lettersOf(leading) >= LONG;
  const isSpecific = isOfBusiness || (rival === undefined && isLong);
  if (!isSpecific && (GIVEN_NAMES.has(leading) || lettersOf(leading) === 1)) return undefined;
  return best.rank >= (isSpecific && lettersOf(leading) >= SHORTEST ? RANK_OF_LISTED : LARGE)
    ? best
    : undefined;
}

/** Checks whether the words that follow in a name are words such as "Motor", also with an adjective: "Mexican Grill". */
function saysOnlyWhatItDoes(leading: string, names: ReadonlySet<string>): boolean {
  return [...names].some((name) => {
    const words = wordsLeftOut(name, leading) ?? [];
    return (
      words.some((word) => KINDS.has(word)) && words.every((word) => KINDS.has(word) || UNSPECIFIC.has(word))
    );
  });
}

/** Returns the number of letters of the words, apart from "and": "L&T" has two. */
function lettersOf(words: string): number {
  return words.replaceAll(/ (?:and )?/g, '').length;
}

/** Returns a company's current names in their normal forms. */
function namesOf({ keys }: Candidate): string[] {
  return keys.flatMap(({ key, kind, strength }) =>
    kind === 'name' && (strength === 'exact' || strength === 'legal_form') ? [key.slice('name:'.length)] : [],
  );
}
