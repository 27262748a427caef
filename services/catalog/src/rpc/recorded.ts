import { type AuditedChange, type CallMetadata, operatorCallOf, type Trail } from '@brand-data/runtime';

const LONGEST_ABOUT = 100;

/** Makes a change that leaves an entry in the trail. A dry run changes nothing, and leaves none. */
export function recorded<Result>(
  trail: Trail,
  metadata: CallMetadata,
  { dryRun = false, about, ...entry }: AuditedChange & { dryRun?: boolean },
  change: () => Promise<Result>,
  countsOf: (result: Result) => Record<string, number>,
): Promise<Result> {
  if (dryRun) return change();
  const shortened = [...new Set(about.map((name) => name.slice(0, LONGEST_ABOUT)))];
  return trail.record(operatorCallOf(metadata), { ...entry, about: shortened }, change, countsOf);
}
