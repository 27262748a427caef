import { FieldOutcome, type ListedOverride, type Override } from '@brand-data/contracts';
import { UNKNOWN_OUTCOME } from '@brand-data/importers';
import { recordValueOf } from '@brand-data/records';
import { Command } from '@commander-js/extra-typings';
import { PartlyFailed, UsageError } from '../../connection/failures.ts';
import { readPages } from '../../connection/reading.ts';
import type { Context } from '../../terminal/context.ts';
import { table, time } from '../../text/tables.ts';

/** Creates a command by which an operator decides something about records. */
export function decidingCommand(
  name: string,
  description: string,
  { why, list }: { why: string; list: string },
) {
  return new Command(name)
    .description(description)
    .option('--reason <text>', why)
    .option('--by <name>', 'who decided it (default: the operator whose credential bds uses)')
    .option('--list', list)
    .option('--dry-run', 'write nothing, and report what would change');
}

/** Refuses --list beside what is to be changed, which the command would not do. */
export function requireAlone(isAlone: boolean): void {
  if (!isAlone) throw new UsageError('give --list alone, or leave it out');
}

/**
 * Writes those overrides of which `jsonOf` returns something, and the others not: with --json one on each line, as `bds set --from-file`
 * reads them. `none` is the text if there are none. Waiting overrides are among them.
 */
export async function listOverrides(
  { catalog, output }: Context,
  none: string,
  jsonOf: (listed: ListedOverride & { override: Override }) => Shown | undefined,
): Promise<void> {
  const { items } = await readPages('overrides', ({ after }) =>
    catalog().call((client) => client.listOverrides, { after }, 60_000),
  );
  const listed = items.flatMap(({ override, waits, ...rest }) => {
    const shown = override && jsonOf({ override, waits, ...rest });
    return shown ? [{ ...shown, ...(waits && { waits }) }] : [];
  });
  output.lines(listed, () => (listed.length === 0 ? none : overrideTable(listed)));
}

/** What is shown of an override, as JSON. */
type Shown = Partial<ReturnType<typeof overrideToJson>> & {
  id?: string;
  records?: string[];
  waits?: boolean;
};

/** Returns a table with the columns of the first override. */
export function overrideTable(overrides: readonly Shown[]): string {
  const columns = Object.keys(overrides[0] ?? {}).filter((name) => name !== 'waits') as (keyof Shown)[];
  const cellOf = (override: Shown, name: keyof Shown) => {
    if (name === 'id' && override.waits) return `${override.id} (waits)`;
    if (name === 'records') return override.records?.join(' ');
    const value = override[name];
    return typeof value === 'string' ? value : value === null ? '(none)' : JSON.stringify(value);
  };
  return table(
    columns.map((name) => name.toUpperCase()),
    overrides.map((override) => columns.map((name) => cellOf(override, name))),
  );
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

/** Returns who decided something that has no value, when and why. */
export function decisionToJson({ by, atMs, reason }: Override) {
  return { by, at: time(atMs) ?? '', reason };
}

const MAX_REASON = 500;

/** Why the operator sets a field. Throws a UsageError if the text is blank or too long. */
export function reasonOf(reason = ''): string {
  if (reason.trim() === '') throw new UsageError('the reason is missing: --reason "why this is right"');
  if ([...reason].length > MAX_REASON)
    throw new UsageError(`the reason is longer than ${MAX_REASON} characters: shorten it`);
  return reason.trim();
}

/** "acme is", "acme, apple are". */
export function namesAre(names: readonly string[], separator = ', '): string {
  return `${names.join(separator)} ${names.length === 1 ? 'is' : 'are'}`;
}
