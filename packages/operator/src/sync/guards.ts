import { CompanyFate, type ImportDifference } from '@brand-data/contracts';
import { companyText } from '../text/difference.ts';
import { figure } from '../text/reports.ts';
import type { DeclaredSource } from './declarations.ts';

/** What an import would do, as its dry run found. */
export interface Plan {
  created: number;
  changed: number;
  unchanged: number;
  /** Records of the source that the import would remove. */
  removed: number;
  difference: ImportDifference;
}

const IDENTITY: readonly CompanyFate[] = [
  CompanyFate.REMOVED,
  CompanyFate.JOINED,
  CompanyFate.SPLIT,
  CompanyFate.RENAMED,
];

/** Returns how many records an import brings that the catalogue takes. */
export function broughtBy({
  created,
  changed,
  unchanged,
}: Pick<Plan, 'created' | 'changed' | 'unchanged'>): number {
  return created + changed + unchanged;
}

/**
 * Returns why an import of this plan has to wait for a person's word, with the figures and companies by which to decide. Empty if
 * nothing speaks against it.
 *
 * @param broughtBefore how many records the last import of the source brought
 */
export function guardReasons(
  { removed, changed, shrunk, famous }: DeclaredSource['guards'],
  plan: Plan,
  broughtBefore = 0,
): string[] {
  // Those that are new to the source may change companies too, which is what an import is for.
  const { recordsChanged } = plan.difference;
  const stored = recordsChanged + plan.unchanged + plan.removed;
  const reasons: string[] = [];
  const share = (count: number) => Math.round((count * 1_000) / stored) / 10;
  const bound = (name: string, count: number, most: number) => {
    if (count * 100 > stored * most)
      reasons.push(
        `${figure(count)} of the ${figure(stored)} records of the source would be ${name}: ${share(count)} %, more than ${most} %`,
      );
  };
  bound('removed', plan.removed, removed);
  bound('changed', recordsChanged, changed);
  const brought = broughtBy(plan);
  if (brought < broughtBefore && brought * 100 <= broughtBefore * (100 - shrunk))
    reasons.push(
      `the source has ${figure(brought)} records that can be used, but had ${figure(broughtBefore)} at its last import: ${shrunk} % or more are missing`,
    );
  const met = plan.difference.bestKnown.filter(
    ({ rank, fate, fields }) => rank >= famous.rank && (IDENTITY.includes(fate) || fields.includes('name')),
  );
  if (met.length > famous.most) {
    const told = met.map(companyText);
    reasons.push(
      `${met.length} companies of rank ${famous.rank} and above would be removed, joined, split or renamed, more than ${famous.most}: ${told.join('; ')}`,
    );
  }
  return reasons;
}
