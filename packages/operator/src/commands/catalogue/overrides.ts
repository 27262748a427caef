import type { ListedOverride, Override } from '@brand-data/contracts';
import { recordValueOf } from '@brand-data/records';
import { UsageError } from '../../connection/failures.ts';
import { readPages } from '../../connection/reading.ts';
import type { Context } from '../../terminal/context.ts';
import { table, time } from '../../text/tables.ts';

/** Writes all overrides, including waiting ones. With --json, writes one on each line, as `bds set --from-file` reads them. */
export async function listOverrides({ catalog, output }: Context): Promise<void> {
  const { items } = await readPages<ListedOverride>({}, async ({ after }) => {
    const page = await catalog().call((client) => client.listOverrides, { after }, 60_000);
    return { items: page.overrides, next: page.next };
  });
  const listed = items.flatMap(({ override, ...rest }) => (override ? [{ override, ...rest }] : []));
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

/** `value` is as in records, and null if the operator has decided that the field has no value. */
export function overrideToJson({ field, value, by, atMs, reason }: Override) {
  return { field, value: recordValueOf(value, field), by, at: time(atMs) ?? '', reason };
}

const MAX_REASON = 500;

/** Why the operator sets a field. Throws a UsageError if the text is blank or too long. */
export function reasonOf(reason = ''): string {
  if (reason.trim() === '') throw new UsageError('the reason is missing: --reason "why this value is right"');
  if ([...reason].length > MAX_REASON)
    throw new UsageError(`the reason is longer than ${MAX_REASON} characters: shorten it`);
  return reason.trim();
}
