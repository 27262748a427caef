import { FieldOutcome, type ListedOverride, type Override } from '@brand-data/contracts';
import { UNKNOWN_OUTCOME } from '@brand-data/importers';
import { recordValueOf, SETTABLE_FIELDS } from '@brand-data/records';
import { PartlyFailed, UsageError } from '../../connection/failures.ts';
import { readPages } from '../../connection/reading.ts';
import type { Context } from '../../terminal/context.ts';
import { table, time } from '../../text/tables.ts';

/** Reads all overrides, including waiting ones. */
export async function readOverrides({ catalog }: Pick<Context, 'catalog'>) {
  const { items } = await readPages<ListedOverride>({}, async ({ after }) => {
    const page = await catalog().call((client) => client.listOverrides, { after }, 60_000);
    return { items: page.overrides, next: page.next };
  });
  return items.flatMap(({ override, ...rest }) => (override ? [{ override, ...rest }] : []));
}

/** Writes all fields that are set. With --json, writes one on each line, as `bds set --from-file` reads them. */
export async function listOverrides({ catalog, output }: Context): Promise<void> {
  const listed = (await readOverrides({ catalog })).filter(({ override }) =>
    SETTABLE_FIELDS.has(override.field),
  );
  if (listed.length === 0) return output.lines([], () => 'No field is set.');
  output.lines(
    listed.map(({ id, override, waits }) => ({ id, ...overrideToJson(override), ...(waits && { waits }) })),
    () =>
      table(
        ['ID', ...OVERRIDE_COLUMNS],
        listed.map(({ id, override, waits }) => [waits ? `${id} (waits)` : id, ...overrideCells(override)]),
      ),
  );
}

export const OVERRIDE_COLUMNS = ['FIELD', 'VALUE', 'BY', 'AT', 'REASON'];

export function overrideCells(override: Override): string[] {
  const { field, value, by, at, reason } = overrideToJson(override);
  const text = typeof value === 'string' ? value : value === null ? '(none)' : JSON.stringify(value);
  return [field, text, by, at, reason];
}

/**
 * Removes overrides. Returns those that were there, and those that were not. Throws PartlyFailed if one is refused, because its record
 * does not exist.
 */
export async function unsetOverrides(
  { catalog }: Pick<Context, 'catalog'>,
  fields: { id: string; field: string }[],
  dryRun: boolean,
) {
  const { results } = await catalog().call((client) => client.unsetFields, { fields, dryRun });
  const refused = results.find(
    ({ outcome }) => outcome === FieldOutcome.REFUSED || outcome === FieldOutcome.UNSPECIFIED,
  );
  if (refused !== undefined) throw new PartlyFailed(refused.reason || UNKNOWN_OUTCOME);
  const those = (wanted: FieldOutcome) => fields.filter((_, index) => results[index]?.outcome === wanted);
  return { done: those(FieldOutcome.CHANGED), notDone: those(FieldOutcome.UNCHANGED) };
}

/** `value` is as in records, and null if the operator has decided that the field has no value. */
export function overrideToJson({ field, value, by, atMs, reason }: Override) {
  return { field, value: recordValueOf(value, field), by, at: time(atMs) ?? '', reason };
}

const MAX_REASON = 500;

/** Why the operator sets a field. Throws a UsageError if the text is blank or too long. */
export function reasonOf(reason = ''): string {
  if (reason.trim() === '') throw new UsageError('the reason is missing: --reason "why this is right"');
  if ([...reason].length > MAX_REASON)
    throw new UsageError(`the reason is longer than ${MAX_REASON} characters: shorten it`);
  return reason.trim();
}
