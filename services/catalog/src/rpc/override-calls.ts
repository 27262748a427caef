import {
  Brand,
  BrandType,
  type CatalogAdminServiceServer,
  type FieldResult,
  type FieldSetting,
  type ListedOverride,
  Override,
  FieldOutcome as ProtoOutcome,
} from '@brand-data/contracts';
import { fieldOf, hasData, JOINED, SETTABLE_FIELDS, SUPPRESSED, withField } from '@brand-data/records';
import type { FieldEdit, FieldOutcome } from '../linkage/edit-overrides.ts';
import { type CatalogDoc, isWaiting, sourceRecordsFromDoc } from '../records/catalog-doc.ts';
import { effectiveOverrides, isDecision, isDecisionField } from '../records/override-record.ts';
import type { CatalogStore } from '../storage/store.ts';
import {
  type AdminParts,
  type OperatorCall,
  operatorCall,
  refuseLargeBatch,
  SCAN_DEADLINE_MS,
} from './operator-calls.ts';

const MAX_LISTED = 1_000;
const MAX_BY = 100;
const MAX_REASON = 500;
const MAX_NAME = 300;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters.
const CONTROL = /[\u0000-\u001f\u007f]/;
/** Every record has a name, and no other source gives one if the operator hides it. */
const NEVER_EMPTY = 'name';

/** Returns the calls that set, unset and list overrides. */
export function overrideCalls(
  parts: AdminParts,
): Pick<CatalogAdminServiceServer, 'setFields' | 'unsetFields' | 'listOverrides' | 'decideLinks'> {
  const { store } = parts;
  return {
    setFields: operatorCall(parts, async ({ settings: given, dryRun }, call) => {
      const atMs = Date.now();
      const settings = given.map(({ id, override = Override.create() }) => {
        return { id, override: { ...override, by: override.by || call.operator } };
      });
      const edits = settings.map(({ id, override }): FieldEdit => {
        return { id, field: override.field, override: overrideToStore(override, atMs) };
      });
      const problems = settings.map(problemOfSetting);
      return { results: await edit(store, 'SetFields', edits, { problems, dryRun, ...call }) };
    }),

    unsetFields: operatorCall(parts, async ({ fields, dryRun }, call) => {
      return { results: await edit(store, 'UnsetFields', fields, { problems: [], dryRun, ...call }) };
    }),

    decideLinks: operatorCall(parts, async ({ decision: given, names, undo, dryRun }, call) => {
      const { operator, signal, record } = call;
      const decision = { ...Override.create(given), by: given?.by || operator, atMs: Date.now() };
      const problem = problemOfNames(decision, names) ?? (undo ? undefined : problemOfDecision(decision));
      if (problem !== undefined) return { result: resultOf({ refused: problem }) };
      const about = names.map((name) => name.slice(name.indexOf('/') + 1));
      const details = { decision: `${undo ? 'not ' : ''}${decision.field}`, records: names.join(' ') };
      const result = await record(
        { method: 'DecideLinks', about, details, dryRun },
        async () => resultOf(await store.decideLinks({ decision, names, undo }, { dryRun, signal })),
        ({ outcome }) => ({ changed: outcome === ProtoOutcome.CHANGED ? 1 : 0 }),
      );
      return { result };
    }),

    listOverrides: operatorCall(
      parts,
      async ({ after }) => {
        const docs = await store.listOverrides(after, MAX_LISTED);
        const next = docs.length < MAX_LISTED ? '' : (docs.at(-1)?._id ?? '');
        return { overrides: docs.flatMap(listedOverrides), next };
      },
      SCAN_DEADLINE_MS,
    ),
  };
}

/** Makes the edits without problems. If an edit has a problem, no field of its record is set. */
async function edit(
  store: CatalogStore,
  method: string,
  edits: readonly FieldEdit[],
  options: OperatorCall & { problems: readonly (string | undefined)[]; dryRun: boolean },
): Promise<FieldResult[]> {
  const { problems, dryRun, signal, record } = options;
  refuseLargeBatch(edits);
  const bad = new Set(edits.flatMap(({ id }, index) => (problems[index] === undefined ? [] : [id])));
  const good = edits.filter(({ id }) => !bad.has(id));
  const change = async () => {
    const outcomes = await store.editFields(good, { dryRun, signal });
    const outcomeOf = new Map(good.map((each, index) => [each, outcomes[index]]));
    return edits.map((each, index): FieldResult => {
      const refused = problems[index];
      return resultOf(refused === undefined ? (outcomeOf.get(each) ?? 'held_back') : { refused });
    });
  };
  const fields = edits.map(({ id, field }) => `${id} ${field}`).join(', ');
  const entry = { method, about: edits.map(({ id }) => id), details: { fields }, dryRun };
  return record(entry, change, (results) => ({
    fields: results.length,
    changed: results.filter(({ outcome }) => outcome === ProtoOutcome.CHANGED).length,
  }));
}

function resultOf(outcome: FieldOutcome): FieldResult {
  if (typeof outcome === 'object') return { outcome: ProtoOutcome.REFUSED, reason: outcome.refused };
  return { outcome: ProtoOutcome[outcome.toUpperCase() as Uppercase<typeof outcome>], reason: '' };
}

function problemOfNames({ field }: Override, names: readonly string[]): string | undefined {
  if (!isDecisionField(field)) return `"${field}" is no decision about source records`;
  const wanted = field === JOINED ? 2 : 1;
  if (names.length !== wanted) return `${field} needs ${wanted} names and not ${names.length}`;
  return names.map((name) => problemOfText('a name', name, MAX_NAME)).find((each) => each !== undefined);
}

/** Returns why a decision about source records is refused, whatever they are. */
export function problemOfDecision({ field, value, by, reason }: Override): string | undefined {
  return value === undefined ? problemOfWords(by, reason) : `${field} has no value`;
}

/** Returns why a setting is refused, whatever its record is. Undefined if nothing is wrong. */
export function problemOfSetting({ override }: FieldSetting): string | undefined {
  const { field = '', value, by = '', reason = '' } = override ?? {};
  if (override && field === SUPPRESSED) return problemOfDecision(override);
  if (!SETTABLE_FIELDS.has(field)) return `"${field}" is no field that can be set: bds set --help lists them`;
  if (value === undefined ? field === NEVER_EMPTY : !hasData(fieldOf(value, field)))
    return `${field} needs a value: bds unset goes back to the value of the sources`;
  if (value?.type === BrandType.OTHER_SECURITY)
    return 'type cannot be other_security: only a source says that a record is no company';
  return problemOfWords(by, reason);
}

function problemOfWords(by: string, reason: string): string | undefined {
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

/** Returns the overrides of a company, or those of a document that holds only overrides. */
function listedOverrides(doc: CatalogDoc): ListedOverride[] {
  const records = sourceRecordsFromDoc(doc);
  const isAlone = isWaiting(doc);
  const id = isAlone ? (records[0]?.brand.id ?? '') : doc._id;
  const decided = records.find((record) => isDecision(record))?.overrides?.records;
  const rest = { id, waits: isAlone && decided === undefined, records: decided ?? [] };
  return effectiveOverrides(records).map((override) => ({ override, ...rest }));
}
