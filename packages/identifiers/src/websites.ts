import { isNamedAfter } from './company-names.ts';
import type { Identity, Names } from './identity.ts';
import { areDisjoint } from './sets.ts';

const SHORTEST_LABEL = 3;

/**
 * Whether the records' websites are those of two companies. Toyota.co.jp and toyota.com may be one company's. If the names are
 * equal, so may tesco.com and tescoplc.com, and two websites that are both named after the company.
 */
export function haveOtherWebsites(a: Identity, b: Identity, areNamesEqual: boolean): boolean {
  const [ofA, ofB] = [a.evidence().domains, b.evidence().domains];
  if (!areDisjoint(ofA, ofB)) return false;
  const [labelsOfA, labelsOfB] = [labelsOf(ofA), labelsOf(ofB)];
  if (labelsOfA.some((label) => labelsOfB.includes(label))) return false;
  if (!areNamesEqual) return true;
  const isLonger = labelsOfA.some((one) =>
    labelsOfB.some((other) => Math.min(one.length, other.length) >= SHORTEST_LABEL && areLonger(one, other)),
  );
  const isNamed = (domains: ReadonlySet<string>, { currentNames }: Names) =>
    [...domains].some((domain) => currentNames.some((name) => isNamedAfter(domain, name)));
  return !isLonger && !(isNamed(ofA, b.names()) && isNamed(ofB, a.names()));
}

function labelsOf(domains: ReadonlySet<string>): string[] {
  return [...domains].map((domain) => domain.split('.', 1)[0] ?? '');
}

function areLonger(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}
