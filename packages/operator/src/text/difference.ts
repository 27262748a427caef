import { type CompanyDifference, CompanyFate, type ImportDifference } from '@brand-data/contracts';
import { caseToJson } from '@brand-data/importers';
import { figure, titled } from './reports.ts';
import { facts } from './tables.ts';
import { wordOf } from './words.ts';

const MOST_FIELDS = 10;

/** Returns what an import does to companies, as all answers with --json show it. */
export function differenceToJson({ changedFields, bestKnown, ...counts }: ImportDifference) {
  return {
    ...caseToJson(counts),
    changed_fields: changedFields,
    best_known: bestKnown.map(({ fate, otherId, fields, ...company }) => ({
      ...company,
      fate: wordOf(CompanyFate, fate),
      ...(otherId !== '' && { other_id: otherId }),
      ...(fields.length > 0 && { fields }),
    })),
  };
}

export function differenceText(difference: ImportDifference): (string | string[] | undefined)[] {
  const { companiesCreated, companiesChanged, companiesRemoved, changedFields, bestKnown } = difference;
  const { companiesJoined, companiesSplit, companiesRenamed } = difference;
  const fields = Object.entries(changedFields).sort(([, a], [, b]) => b - a);
  const counts: [string, number][] = [
    ['created', companiesCreated],
    ['changed', companiesChanged],
    ['removed', companiesRemoved],
    ['joined', companiesJoined],
    ['split', companiesSplit],
    ['with another id', companiesRenamed],
  ];
  const told = counts.filter(([, count]) => count > 0);
  if (told.length === 0) return [];
  return [
    facts([['Companies', told.map(([name, count]) => `${figure(count)} ${name}`).join(', ')]]),
    titled(
      'Changed fields',
      fields.slice(0, MOST_FIELDS).map(([field, count]) => `  ${figure(count).padStart(7)}  ${field}`),
      fields.length,
    ),
    titled(
      'Best known',
      bestKnown.map((company) => `  ${companyText(company)}`),
      bestKnown.length,
    ),
  ];
}

/** "apple (Apple, rank 1000): joined apple-inc". */
export function companyText({ id, name, rank, fate, otherId, fields }: CompanyDifference): string {
  const what = fate === CompanyFate.CHANGED ? `changed ${fields.join(', ')}` : wordOf(CompanyFate, fate);
  return `${id} (${name}, rank ${rank}): ${what}${otherId && ` ${otherId}`}`;
}
