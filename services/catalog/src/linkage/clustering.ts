import { linkBetween } from '@brand-data/identifiers';
import { compareSources } from '../records/merge.ts';
import type { Contribution } from '../records/source-record.ts';
import { meetings } from './blocking-index.ts';

/** How strong the evidence is that two contributions are of one company; 0: they are not. Symmetric. */
export type Link = (a: Contribution, b: Contribution) => number;

export const linkOf: Link = (a, b) =>
  a.isQuote || b.isQuote || a.source === b.source ? 0 : linkBetween(a.identity, b.identity);

/** Asks once about each pair. */
export function remembered(link: Link): Link {
  const answers = new Map<Contribution, Map<Contribution, number>>();
  return (a, b) => {
    const known = answers.get(a)?.get(b) ?? answers.get(b)?.get(a);
    if (known !== undefined) return known;
    const answer = link(a, b);
    const ofA = answers.get(a) ?? new Map<Contribution, number>();
    answers.set(a, ofA.set(b, answer));
    return answer;
  };
}

/**
 * Which contributions are of one company: a list of companies, each with its contributions, strongest source first.
 *
 * Source after source, the strongest first, every contribution goes to the company of which it shows the strongest link
 * to any member, and founds a company of its own where it has none. A company takes one contribution of a source at
 * most: the more strongly linked, then the one of the company's own id, then the smaller id. A company's id is its
 * founder's, and no other company has it, as the same id is the strongest link.
 *
 * Pure, and the order of `contributions` has no influence. What is linked to none of the others has none either: the
 * companies of linked contributions are the same whatever else is there.
 */
export function partition(contributions: readonly Contribution[], link: Link = linkOf): Contribution[][] {
  if (contributions.length === 1) return [[...contributions]];
  const companies: Company[] = [];
  const met = meetings<Company>();
  const bySource = Map.groupBy(contributions, ({ source }) => source);
  for (const source of [...bySource.keys()].sort(compareSources)) {
    const ofSource = (bySource.get(source) ?? []).toSorted((a, b) => compareIds(a.id, b.id));
    const pairs = ofSource.flatMap((contribution) =>
      [...new Set(met.of(contribution))].flatMap((company): Pair[] => {
        const strength = Math.max(...company.members.map((member) => link(member, contribution)));
        return strength > 0 ? [{ contribution, company, strength }] : [];
      }),
    );
    const placed = new Map<Contribution, Company>();
    const taken = new Set<Company>();
    for (const { contribution, company } of pairs.sort(byStrength)) {
      if (placed.has(contribution) || taken.has(company)) continue;
      placed.set(contribution, company);
      taken.add(company);
    }
    for (const contribution of ofSource) {
      let company = placed.get(contribution);
      if (company === undefined) {
        company = { id: contribution.id, members: [] };
        companies.push(company);
      }
      company.members.push(contribution);
      met.add(contribution, company);
    }
  }
  return companies.map(({ members }) => members);
}

interface Company {
  readonly id: string;
  readonly members: Contribution[];
}

interface Pair {
  readonly contribution: Contribution;
  readonly company: Company;
  readonly strength: number;
}

function byStrength(a: Pair, b: Pair): number {
  const isOwn = ({ contribution, company }: Pair) => Number(contribution.id === company.id);
  return (
    b.strength - a.strength ||
    isOwn(b) - isOwn(a) ||
    compareIds(a.contribution.id, b.contribution.id) ||
    compareIds(a.company.id, b.company.id)
  );
}

function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
