import {
  Brand,
  type FieldResult,
  type FieldSetting,
  type ListedOverride,
  Override,
  FieldOutcome as ProtoOutcome,
} from '@brand-data/contracts';
import { fieldOf, hasData, SETTABLE_FIELDS, withField } from '@brand-data/records';
import type { FieldOutcome } from '../linkage/edit-overrides.ts';
import { type CatalogDoc, isWaiting, sourceRecordsFromDoc } from '../records/catalog-doc.ts';
import { effectiveOverrides } from '../records/override-record.ts';

/** How many companies' overrides one page holds. */
export const MAX_LISTED = 1_000;
const MAX_BY = 100;
const MAX_REASON = 500;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters.
const CONTROL = /[\u0000-\u001f\u007f]/;
/** Every record has a name, and no other source gives one if the operator hides it. */
const NEVER_EMPTY = 'name';

/** Why a setting is refused, whatever its record is. Undefined if nothing is wrong. */
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

/** The override with the time and with the value of its field alone, whatever else the caller's brand holds. */
export function overrideToStore(override: Override = Override.create(), atMs: number): Override {
  const { field, value } = override;
  if (value === undefined) return { ...override, atMs };
  return { ...override, value: Brand.fromPartial(withField({}, field, fieldOf(value, field))), atMs };
}

const PROTO_OUTCOME = {
  changed: ProtoOutcome.CHANGED,
  unchanged: ProtoOutcome.UNCHANGED,
  held_back: ProtoOutcome.HELD_BACK,
} as const;

export function resultToProto(outcome: FieldOutcome): FieldResult {
  if (typeof outcome === 'object') return { outcome: ProtoOutcome.REFUSED, reason: outcome.refused };
  return { outcome: PROTO_OUTCOME[outcome], reason: '' };
}

/** The overrides of a company, or those of a document that holds only overrides. */
export function listedOverrides(doc: CatalogDoc): ListedOverride[] {
  const records = sourceRecordsFromDoc(doc);
  const waits = isWaiting(doc);
  const id = waits ? (records[0]?.brand.id ?? '') : doc._id;
  return effectiveOverrides(records).map((override) => ({ id, override, waits }));
}
