import { type CompanyName, compareNames, isNamedAfter, isOfOnePlace } from './company-names.ts';
import type { RecordIdentity } from './identity.ts';
import { hasCommon } from './sets.ts';

/** A word of so many letters seldom begins the names of two companies that share a listing. */
const LONG_WORD = 5;

/**
 * How the names agree. "former": a current name of one is a former name of the other. "begins": one is the beginning of the
 * other. "alike": one may abbreviate the other, or a website is named after the other's name. "firstWord": both begin with the
 * same long word.
 */
export type NameAgreement = 'equal' | 'former' | 'begins' | 'alike' | 'firstWord' | 'other';

/** @param isLoose whether names that are not equal are compared word by word */
export function nameAgreementOf(a: RecordIdentity, b: RecordIdentity, isLoose: boolean): NameAgreement {
  const [ofA, ofB] = [a.names(), b.names()];
  if (hasCommon(ofA.current, ofB.current)) return 'equal';
  if (
    hasCommon(ofA.current, ofB.former) ||
    hasCommon(ofA.former, ofB.current) ||
    hasCommon(ofA.former, ofB.former)
  )
    return 'former';
  if (!isLoose) return 'other';
  const allOfA = [...ofA.currentNames, ...ofA.formerNames];
  const allOfB = [...ofB.currentNames, ...ofB.formerNames];
  const some = (test: (one: CompanyName, other: CompanyName) => boolean) =>
    allOfA.some((one) => allOfB.some((other) => !isOfOnePlace(one, other) && test(one, other)));
  if (some((one, other) => isBeginning(one, other) || isBeginning(other, one))) return 'begins';
  const isSiteNamedAfter = (domains: ReadonlySet<string>, names: readonly CompanyName[]) =>
    [...domains].some((domain) => names.some((name) => isNamedAfter(domain, name)));
  const isAlike =
    some((one, other) => compareNames(one, other) !== 'other') ||
    isSiteNamedAfter(a.evidence().domains, ofB.currentNames) ||
    isSiteNamedAfter(b.evidence().domains, ofA.currentNames);
  if (isAlike) return 'alike';
  return some(haveFirstWord) ? 'firstWord' : 'other';
}

/** Checks whether the name is the other's first words, in whatever spaces: "Supermicro" of "Super Micro Computer". */
function isBeginning({ words }: CompanyName, { words: others }: CompanyName): boolean {
  const letters = words.join('');
  if (letters.length < 2) return false;
  let start = '';
  return others.some((word) => {
    start += word;
    return start === letters;
  });
}

/** Checks whether both names begin with the same word, unless it is short. */
function haveFirstWord({ words: [one = ''] }: CompanyName, { words: [other] }: CompanyName): boolean {
  return one === other && one.length >= LONG_WORD;
}
