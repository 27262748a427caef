import {
  type BrandKey,
  compareStrengths,
  type IdentifierKind,
  isWeak,
  type Strength,
} from '../keys/brand-key.ts';
import { isAmericanTickerKey, isBareTickerKey, isBoardTickerKey } from '../keys/tickers.ts';
import { isCommonAsName, isCommonAsTicker, OTHER_WORDS } from '../names/common-words.ts';
import { compareLegalFamilies, legalFamiliesOf } from '../names/legal-families.ts';
import { coreName, legalFormOf, normalName, PLACEHOLDER } from '../names/names.ts';
import { isFirstWordOfMany } from '../names/places.ts';
import { GIVEN_NAMES } from '../names/published-names.ts';
import { hasStateMark } from '../names/registry-names.ts';
import { compareTexts, hasInOrder } from '../names/texts.ts';
import {
  isCashtag,
  type Reading,
  type ReadOptions,
  readIdentifier,
  readNamesWithCodes,
} from '../read/readings.ts';
import { isUnspecific, leadingKeysToRead, meantByLeadingWords } from './leading-words.ts';
import { type Candidate, compareRanked, isBareRank, RANK_OF_LISTED, type Ranked } from './rank.ts';

/** By how much a company must be better known, so that its name precedes another company's bare ticker. */
const CLEARLY_BETTER_KNOWN = 200;
/** The same for its name without "Group", against a name without its legal form or a ticker in capital and small letters. */
const MUCH_BETTER_KNOWN = 150;
/** The rank from which a company's short name precedes an icon of that name: 2 billion dollars. */
const BETTER_KNOWN_THAN_ICONS = 660;
/** The rank from which a ticker is known: no name precedes it in capitals, and it may have capital and small letters. */
const WELL_KNOWN = 700;

/** The rank from which a country's name or an adjective, alone, may be a company without its legal form: it is large. */
const LARGE = 740;
/** A step after those of all readings. */
const AFTER_ALL = 1_000;

/** A text in capitals is written as a ticker, and not as a word: "ALL". */
const IN_CAPITALS = /^\s*[A-Z]{1,5}\s*$/;
/** Few tickers in the United States have five letters. A word in capitals is therefore rather the name of a better known company. */
const LONG_TICKER = /^\s*[A-Z]{5}\s*$/;
const ONE_WORD = /^\s*\p{L}+\s*$/u;

/** The brand that an identifier means, and how it matched. */
export interface Resolution {
  readonly id: string;
  readonly kind: IdentifierKind;
  readonly value: string;
  readonly strength: Strength;
  /** The record's keys that matched equally well. `value` is the smallest of their values. */
  readonly keys: readonly string[];
}

interface Match extends Omit<Resolution, 'keys'>, Ranked {
  readonly key: string;
  readonly step: number;
  /** Whether the names differ only in their legal forms: "Merck KGaA" and "Merck Inc.". */
  readonly hasOtherForm: boolean;
  /** Whether the identifier's legal form shows that it means another company of the same name. */
  readonly isOther: boolean;
}

/**
 * Decides which of the candidates an identifier means. "Precedence" in packages/identifiers/README.md tells how and why. The order
 * of the candidates does not matter, and those that do not match are ignored. If none matches, the text is read as a name together
 * with a ticker or another code, and last as the leading words of a name. Undefined if nothing matches.
 */
export function resolve(
  identifier: string,
  candidates: readonly Candidate[],
  options: ReadOptions,
): Resolution | undefined {
  const all = matchesOf(identifier, candidates, readIdentifier(identifier, options));
  const matches = all.filter(isMeantBy(identifier, candidates, all, options)).sort(byPrecedence);
  const best = bestOf(identifier, candidates, matches);
  if (best !== undefined) return resolutionOf(best, matches);
  return (
    resolveNameWithCode(identifier, candidates, options) ??
    resolveLeadingWords(identifier, candidates, options)
  );
}

function resolveLeadingWords(
  identifier: string,
  candidates: readonly Candidate[],
  options: ReadOptions,
): Resolution | undefined {
  for (const { key, kind } of leadingKeysToRead(identifier, options)) {
    const meant = meantByLeadingWords(key, candidates);
    const value = meant?.keys.find((own) => own.key === key)?.value ?? '';
    if (meant !== undefined) return { id: meant.id, kind, value, strength: 'leading_words', keys: [key] };
  }
  return undefined;
}

/** Reads the text as a name with a code: the company that the code means most likely among those with the name. */
function resolveNameWithCode(
  identifier: string,
  candidates: readonly Candidate[],
  { kind }: ReadOptions,
): Resolution | undefined {
  for (const { name, nameReadings, code, codeReadings } of readNamesWithCodes(identifier, kind)) {
    const named = matchesOf(name, candidates, nameReadings);
    const isWhole = named.some(({ strength }) => strength === 'exact');
    // If a company has the whole name, "Merck & Co.", it is not that of another one, "Merck KGaA".
    const ids = new Set(
      named.filter(({ isOther, hasOtherForm }) => !isOther && !(isWhole && hasOtherForm)).map(({ id }) => id),
    );
    const matches = matchesOf(code, candidates, codeReadings)
      .filter(({ id }) => ids.has(id))
      .sort(byPrecedence);
    const [best] = matches;
    if (best !== undefined) return resolutionOf(best, matches);
  }
  return undefined;
}

function resolutionOf(best: Match, matches: readonly Match[]): Resolution {
  const { id, kind, value, strength } = best;
  const keys = new Set(matches.filter((match) => compareMatches(match, best) === 0).map(({ key }) => key));
  return { id, kind, value, strength, keys: [...keys].sort() };
}

function matchesOf(identifier: string, candidates: readonly Candidate[], all: readonly Reading[]): Match[] {
  const readings = new Map(all.map((reading) => [reading.key, reading]));
  const form = legalFormOf(identifier);
  const families = legalFamiliesOf(identifier);
  return candidates.flatMap(({ id, rank, tieBreak, keys }) => {
    const isOfOtherFamily =
      families.length > 0 &&
      hasOtherFamily(families, keys) &&
      !keys.some(({ key, strength }) => strength === 'former' && readings.get(key)?.strength === 'exact');
    return keys.flatMap(({ key, kind, strength, value, form: ownForm }): Match[] => {
      const reading = readings.get(key);
      if (reading === undefined || isTooWeak(strength, reading.strength, rank)) return [];
      const weaker = compareStrengths(strength, reading.strength) < 0 ? reading.strength : strength;
      const hasOtherForm = weaker === 'legal_form' && form !== '' && (ownForm ?? legalFormOf(value)) !== form;
      const isOther =
        isOfOtherFamily && kind === 'name' && strength !== 'former' && reading.strength !== 'exact';
      // These come after all that surely has the text now, as a ticker or as a name.
      const isOldTicker = (kind === 'ticker' && strength === 'former') || isBoardTickerKey(key);
      const step = isOldTicker ? AFTER_ALL : reading.step;
      return [{ id, kind, value, strength: weaker, key, rank, tieBreak, step, hasOtherForm, isOther }];
    });
  });
}

/** Checks whether a key is too weak: a former name written otherwise, a site name of an icon or with a legal form, or leading words. */
function isTooWeak(strength: Strength, asRead: Strength, rank: number): boolean {
  if (strength === 'leading_words') return true;
  if (strength === 'former') return isWeak(asRead);
  return strength === 'site_name' && (asRead !== 'exact' || isBareRank(rank));
}

/**
 * Checks whether the company's names state legal forms, but none of a family that the identifier's form may stand for. "Porsche
 * SE" is not Porsche AG. But "SAP AG" is SAP SE, because every SE had another form before.
 */
function hasOtherFamily(families: readonly string[], keys: readonly BrandKey[]): boolean {
  const own = keys.flatMap(({ key, kind, strength, value, form }) =>
    kind === 'name' && (strength === 'exact' || strength === 'legal_form')
      ? legalFamiliesOf(form === undefined ? value || key.slice('name:'.length) : `${PLACEHOLDER} ${form}`)
      : [],
  );
  const agreement = compareLegalFamilies(families, own);
  return agreement === 'clash' || (agreement === 'converted' && !own.includes('se'));
}

/**
 * Checks whether a match counts. A common word means a company only if it is its whole current name, or is written as its ticker, and in
 * small letters no icon. A place or an adjective with which many names begin does not match weakly, without the legal form or with
 * another one ("United Company") only if the company is large, and in small letters not as a little known company's ticker. A
 * word is not what a little known company was called before. A text that can only be a ticker is written as one.
 */
function isMeantBy(
  identifier: string,
  candidates: readonly Candidate[],
  matches: readonly Match[],
  { kind: only }: ReadOptions,
): (match: Match) => boolean {
  if (matches.length === 0) return () => true;
  const isTicker = only === 'ticker' || isWrittenAsTicker(identifier);
  if (isCommonAsName(identifier)) {
    const isPlainWord = isCommonAsTicker(identifier) && !isTicker;
    return ({ kind, strength, key, rank }) =>
      kind === 'ticker'
        ? !isPlainWord && strength === 'exact' && !isBoardTickerKey(key)
        : kind !== 'name' || (strength === 'exact' && (/\p{Lu}/u.test(identifier) || !isBareRank(rank)));
  }
  const isName = !isTicker && ONE_WORD.test(identifier) && hasMixedCase(identifier);
  const isAlone = isUnspecific(normalName(identifier));
  const isOfMany = isAlone || isFirstWordOfMany(coreName(identifier));
  return (match) => {
    const { kind, strength, rank, hasOtherForm } = match;
    if (isName && kind === 'ticker' && !isAlsoTicker(identifier, match, candidates, matches)) return false;
    if (kind === 'name' && isFormer(match) && rank < WELL_KNOWN && isWordOrGivenName(identifier))
      return false;
    if (!isOfMany) return true;
    if (kind === 'ticker' && /\p{Ll}/u.test(identifier) && !isTicker && rank < RANK_OF_LISTED) return false;
    if (isWeak(strength)) return rank >= LARGE && !isFirstWordOfMany(coreName(identifier));
    return strength !== 'legal_form' || rank >= LARGE || !(isAlone || hasOtherForm);
  };
}

/**
 * Checks whether a word in capital and small letters, which is a name first, is a company's ticker too. The company has a current name
 * that matches, or it is well known, and the ticker abbreviates its name and is no word: "Aapl" is Apple, but "Coke" is not Coca-Cola
 * Consolidated, and "Snow" not Snowflake.
 */
function isAlsoTicker(
  identifier: string,
  { id, rank }: Match,
  candidates: readonly Candidate[],
  matches: readonly Match[],
): boolean {
  if (matches.some((other) => other.id === id && other.kind === 'name' && !isFormer(other))) return true;
  if (rank < WELL_KNOWN || isWordOrGivenName(identifier)) return false;
  const letters = normalName(identifier).replace(/(.)\1+/gu, '$1');
  return namesOf(candidates, id).some(({ key }) => hasInOrder(key.slice('name:'.length), letters));
}

/** Returns the best of the matches, which are in order of precedence. */
function bestOf(
  identifier: string,
  candidates: readonly Candidate[],
  matches: readonly Match[],
): Match | undefined {
  const first = firstOf(matches);
  if (first === undefined) return undefined;
  if (isWeak(first.strength)) return fitsOneCompany(first, candidates, matches) ? first : undefined;
  if (first.kind !== 'ticker')
    return (
      betterKnownNamesake(identifier, first, matches) ?? betterKnownGroup(identifier, first, matches) ?? first
    );
  return (
    matches.find(
      (match) =>
        isMeantRather(identifier, match, first) &&
        (!isWeak(match.strength) || fitsOneCompany(match, candidates, matches)),
    ) ?? first
  );
}

/** Returns the first company so called without its legal form, if it is much better known than the little known one with exactly this name. */
function betterKnownNamesake(identifier: string, first: Match, matches: readonly Match[]): Match | undefined {
  // The mark of a state tells namesakes apart.
  if (hasStateMark(identifier)) return undefined;
  if (first.kind !== 'name' || first.strength !== 'exact' || first.rank >= RANK_OF_LISTED) return undefined;
  return matches.find(
    ({ kind, strength, rank, hasOtherForm, isOther }) =>
      kind === 'name' &&
      strength === 'legal_form' &&
      !(hasOtherForm || isOther) &&
      rank >= Math.max(RANK_OF_LISTED, first.rank + MUCH_BETTER_KNOWN),
  );
}

/** Returns the only company so called without "Group" or by its website, if it is better known than the first match. */
function betterKnownGroup(identifier: string, first: Match, matches: readonly Match[]): Match | undefined {
  const isIcon = isBareRank(first.rank);
  if (first.kind !== 'name' || !(isIcon || first.strength === 'legal_form')) return undefined;
  if (legalFormOf(identifier) !== '') return undefined;
  const leastRank = isIcon ? BETTER_KNOWN_THAN_ICONS : first.rank + MUCH_BETTER_KNOWN;
  const groups = matches.filter(
    ({ kind, strength, rank }) =>
      kind === 'name' && (strength === 'group_word' || strength === 'site_name') && rank >= leastRank,
  );
  return groups.every(({ id }) => id === groups[0]?.id) ? groups[0] : undefined;
}

/** Returns the first match, or the first of the second company or by a former name. A look-up need not find more. */
function firstOf(matches: readonly Match[]): Match | undefined {
  const [first] = matches;
  if (first === undefined || !first.isOther) return first;
  const second = matches.find(({ id }) => id !== first.id);
  return second?.isOther ? matches.find(isFormer) : second;
}

/**
 * Checks whether no other company matches by this strength. Bare records do not count beside a fuller one. If the next company has the
 * same whole name and only lacks "Group" or the like here, the better known one is meant, as by the whole name. A look-up may not have
 * read the companies after that one.
 */
function fitsOneCompany(
  { id, strength, rank }: Match,
  candidates: readonly Candidate[],
  matches: readonly Match[],
): boolean {
  const next = matches.find(
    (other) =>
      other.id !== id && other.strength === strength && (isBareRank(rank) || !isBareRank(other.rank)),
  );
  if (next === undefined) return true;
  const wholeNamesOf = (company: string) =>
    new Set(namesOf(candidates, company).flatMap((name) => (name.strength === 'exact' ? name.key : [])));
  return strength === 'group_word' && !wholeNamesOf(id).isDisjointFrom(wholeNamesOf(next.id));
}

function namesOf(candidates: readonly Candidate[], id: string): BrandKey[] {
  return candidates
    .filter((candidate) => candidate.id === id)
    .flatMap(({ keys }) => keys.filter(({ kind }) => kind === 'name'));
}

/** Checks whether people who write the bare ticker of one company rather mean the other company, because it is better known. */
function isMeantRather(identifier: string, match: Match, ticker: Match): boolean {
  const isMain = isBareTickerKey(ticker.key);
  if (match.id === ticker.id || !(isMain || isAmericanTickerKey(ticker.key))) return false;
  const lead = Math.floor(match.rank) - Math.floor(ticker.rank);
  const isAsTicker = isWrittenAsTicker(identifier);
  const isKnownTicker = isMain && isAsTicker && ticker.rank >= WELL_KNOWN && !LONG_TICKER.test(identifier);
  if (match.kind === 'name' && isKnownTicker) return false;
  if (match.kind === 'name' && match.strength === 'exact')
    return lead > 0 || (lead === 0 && hasMixedCase(identifier));
  if (isFormer(match) && isAsTicker) return false;
  if (match.kind === 'name' && hasMixedCase(identifier)) {
    if (match.strength === 'legal_form' && lead >= 0) return true;
    if (match.strength === 'group_word' && lead >= MUCH_BETTER_KNOWN) return true;
  }
  const isKnownByIt =
    match.kind === 'name' || (isMain && (isAmericanTickerKey(match.key) || isBoardTickerKey(match.key)));
  return isKnownByIt && lead >= CLEARLY_BETTER_KNOWN;
}

function isWordOrGivenName(text: string): boolean {
  const word = normalName(text);
  return OTHER_WORDS.has(word) || GIVEN_NAMES.has(word);
}

/** Checks whether the text is written as a ticker, and not as a word: "ALL", "$all". */
function isWrittenAsTicker(text: string): boolean {
  return IN_CAPITALS.test(text) || isCashtag(text);
}

/** Checks whether the text is written as a name, not as a ticker: "Next", not "NEXT" or "next". */
function hasMixedCase(text: string): boolean {
  return /\p{Lu}/u.test(text) && /\p{Ll}/u.test(text);
}

function byPrecedence(a: Match, b: Match): number {
  return compareMatches(a, b) || compareTexts(a.value, b.value);
}

/** Compares two matches. The result is zero if they are equally good matches of the same record. */
function compareMatches(a: Match, b: Match): number {
  return (
    compareSteps(a, b) ||
    Number(isFormer(a)) - Number(isFormer(b)) ||
    Number(isBareRank(a.rank)) - Number(isBareRank(b.rank)) ||
    compareStrengths(a.strength, b.strength) ||
    Number(a.hasOtherForm) - Number(b.hasOtherForm) ||
    compareRanked(a, b)
  );
}

/** Compares the steps of two matches. Weak matches follow all other matches, and are compared by strength only. */
function compareSteps(a: Match, b: Match): number {
  const aIsWeak = isWeak(a.strength);
  const bIsWeak = isWeak(b.strength);
  if (!aIsWeak && !bIsWeak) return a.step - b.step;
  return Number(aIsWeak) - Number(bIsWeak) || compareStrengths(a.strength, b.strength);
}

/** A former name is weaker than any current one, also one without its legal form, whoever has it. */
function isFormer({ strength }: Match): boolean {
  return strength === 'former';
}
