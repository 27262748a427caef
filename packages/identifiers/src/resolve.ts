import { compareRanked, compareTexts, type Ranked } from './compare-texts.ts';
import { type BrandKey, compareStrengths, type Kind, type Strength } from './keys.ts';
import { legalFormOf } from './names.ts';
import { readIdentifier } from './readings.ts';
import { isBareTickerKey } from './tickers.ts';

/** A brand that an identifier may mean. */
export interface Candidate extends Ranked {
  readonly keys: readonly BrandKey[];
}

/** The brand that an identifier means, and how it matched. */
export interface Resolution {
  readonly id: string;
  readonly kind: Kind;
  /** The record's own value that was matched. */
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
}

/**
 * Decides which of the candidates an identifier means: by the reading's step (and so by kind), then strength, then equal legal
 * form, then rank, then tie-break and id. There is one exception: the exact name of a better known company precedes another company's bare
 * ticker. "Precedence" in packages/identifiers/README.md gives the reasons. The order of the candidates does not matter.
 * Candidates that do not match are ignored. Undefined if none matches.
 */
export function resolve(
  identifier: string,
  candidates: readonly Candidate[],
  options: { superinvestors: boolean },
): Resolution | undefined {
  const matches = matchesOf(identifier, candidates, options).sort(byPrecedence);
  const [first] = matches;
  if (first === undefined) return undefined;
  const named = isBareTickerKey(first.key)
    ? matches.find(({ id, kind, strength }) => kind === 'name' && strength === 'exact' && id !== first.id)
    : undefined;
  const best = named !== undefined && named.rank > first.rank ? named : first;
  const { id, kind, value, strength } = best;
  const keys = new Set(matches.filter((match) => compareMatches(match, best) === 0).map(({ key }) => key));
  return { id, kind, value, strength, keys: [...keys].sort() };
}

function matchesOf(
  identifier: string,
  candidates: readonly Candidate[],
  options: { superinvestors: boolean },
): Match[] {
  const readings = new Map(readIdentifier(identifier, options).map((reading) => [reading.key, reading]));
  const form = legalFormOf(identifier);
  return candidates.flatMap(({ id, rank, tieBreak, keys }) =>
    keys.flatMap(({ key, kind, strength, value, form: ownForm }): Match[] => {
      const reading = readings.get(key);
      if (reading === undefined) return [];
      const weaker = compareStrengths(strength, reading.strength) < 0 ? reading.strength : strength;
      const hasOtherForm = weaker === 'legal_form' && form !== '' && (ownForm ?? legalFormOf(value)) !== form;
      return [{ id, kind, value, strength: weaker, key, rank, tieBreak, step: reading.step, hasOtherForm }];
    }),
  );
}

function byPrecedence(a: Match, b: Match): number {
  return compareMatches(a, b) || compareTexts(a.value, b.value);
}

/** Zero if both are matches of the same record and equally good. */
function compareMatches(a: Match, b: Match): number {
  return (
    a.step - b.step ||
    compareStrengths(a.strength, b.strength) ||
    Number(a.hasOtherForm) - Number(b.hasOtherForm) ||
    compareRanked(a, b)
  );
}
