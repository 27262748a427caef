import {
  Brand,
  type CatalogAdminServiceServer,
  type FieldResult,
  type FieldSetting,
  type ListedOverride,
  Override,
  FieldOutcome as ProtoOutcome,
} from '@brand-data/contracts';
import { fieldOf, hasData, SETTABLE_FIELDS, withField } from '@brand-data/records';
import type { Service } from '@brand-data/runtime';
import type { FieldEdit, FieldOutcome } from '../linkage/edit-overrides.ts';
import { type CatalogDoc, isWaiting, sourceRecordsFromDoc } from '../records/catalog-doc.ts';
import { effectiveOverrides } from '../records/override-record.ts';
import type { AdminParts, OperatorCallContext } from './admin-parts.ts';
import { refuseLargeBatch } from './batches.ts';
import { ANSWER_DEADLINE_MS, SCAN_DEADLINE_MS, withDeadline } from './deadline.ts';
import { recorded } from './recorded.ts';

/** How many companies' overrides one page holds. */
const MAX_LISTED = 1_000;
const MAX_BY = 100;
const MAX_REASON = 500;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters.
const CONTROL = /[\u0000-\u001f\u007f]/;
/** Every record has a name, and no other source gives one if the operator hides it. */
const NEVER_EMPTY = 'name';

/** Returns the calls that set, unset and list overrides. */
export function overrideCalls(
  service: Service,
  parts: AdminParts,
): Pick<CatalogAdminServiceServer, 'setFields' | 'unsetFields' | 'listOverrides'> {
  return {
    setFields: withDeadline(service, ANSWER_DEADLINE_MS, async ({ settings, dryRun }, call) => {
      const atMs = Date.now();
      const edits = settings.map(
        ({ id, override }): FieldEdit => ({
          id,
          field: override?.field ?? '',
          override: overrideToStore(override, atMs),
        }),
      );
      const problems = settings.map(problemOfSetting);
      const results = await edit(parts, 'SetFields', edits, { problems, dryRun, ...call });
      return { results };
    }),

    unsetFields: withDeadline(service, ANSWER_DEADLINE_MS, async ({ fields, dryRun }, call) => {
      const results = await edit(parts, 'UnsetFields', fields, { problems: [], dryRun, ...call });
      return { results };
    }),

    listOverrides: withDeadline(service, SCAN_DEADLINE_MS, async ({ after }) => {
      const docs = await parts.store.listOverrides(after, MAX_LISTED);
      const next = docs.length < MAX_LISTED ? '' : (docs.at(-1)?._id ?? '');
      return { overrides: docs.flatMap(listedOverrides), next };
    }),
  };
}

/** Makes the edits without problems. If an edit has a problem, no field of its record is set. */
async function edit(
  { store, trail }: AdminParts,
  method: string,
  edits: readonly FieldEdit[],
  {
    problems,
    dryRun,
    signal,
    metadata,
  }: OperatorCallContext & { problems: readonly (string | undefined)[]; dryRun: boolean },
): Promise<FieldResult[]> {
  refuseLargeBatch(edits);
  const bad = new Set(edits.flatMap(({ id }, index) => (problems[index] === undefined ? [] : [id])));
  const good = edits.filter(({ id }) => !bad.has(id));
  const change = async () => {
    const outcomes = await store.editFields(good, { dryRun, signal });
    const outcomeOf = new Map(good.map((each, index) => [each, outcomes[index]]));
    return edits.map((each, index) => {
      const problem = problems[index];
      return resultToProto(
        problem === undefined ? (outcomeOf.get(each) ?? 'held_back') : { refused: problem },
      );
    });
  };
  const fields = edits.map(({ id, field }) => `${id} ${field}`).join(', ');
  const entry = { method, about: edits.map(({ id }) => id), details: { fields }, dryRun };
  return recorded(trail, metadata, entry, change, (results) => ({
    fields: results.length,
    changed: results.filter(({ outcome }) => outcome === ProtoOutcome.CHANGED).length,
  }));
}

/** Returns why a setting is refused, whatever its record is. Undefined if nothing is wrong. */
export function problemOfSetting({ override }: FieldSetting): string | undefined {
  const { field = '', value, by = '', reason = '' } = override ?? {};
  if (!SETTABLE_FIELDS.has(field)) return `"${field}" is no field that can be set: bds set --help lists them`;
  if (value === undefined ? field === NEVER_EMPTY : !hasData(fieldOf(value, field)))
    return `${field} needs a value: bds unset goes back to the value of the sources`;
  return (
    problemOfText('the reason', reason, MAX_REASON) ?? problemOfText('the name of who sets it', by, MAX_BY)
  );
}

function problemOfText(what: string, text: string, most: number): string | undefined {
  if (text.trim() === '') return `${what} is missing`;
  if ([...text].length > most) return `${what} is longer than ${most} characters: shorten it`;
  return CONTROL.test(text) ? `${what} holds a control character: remove it` : undefined;
}

/** Returns the override with the time and with the value of its field alone, whatever else the caller's brand holds. */
function overrideToStore(override: Override = Override.create(), atMs: number): Override {
  const { field, value } = override;
  if (value === undefined) return { ...override, atMs };
  return { ...override, value: Brand.fromPartial(withField({}, field, fieldOf(value, field))), atMs };
}

const PROTO_OUTCOME = {
  changed: ProtoOutcome.CHANGED,
  unchanged: ProtoOutcome.UNCHANGED,
  held_back: ProtoOutcome.HELD_BACK,
} as const;

function resultToProto(outcome: FieldOutcome): FieldResult {
  if (typeof outcome === 'object') return { outcome: ProtoOutcome.REFUSED, reason: outcome.refused };
  return { outcome: PROTO_OUTCOME[outcome], reason: '' };
}

/** Returns the overrides of a company, or those of a document that holds only overrides. */
function listedOverrides(doc: CatalogDoc): ListedOverride[] {
  const records = sourceRecordsFromDoc(doc);
  const waits = isWaiting(doc);
  const id = waits ? (records[0]?.brand.id ?? '') : doc._id;
  return effectiveOverrides(records).map((override) => ({ id, override, waits }));
}
