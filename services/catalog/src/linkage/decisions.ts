import { compareTexts } from '@brand-data/identifiers';
import { JOINED, SEPARATED } from '@brand-data/records';
import { isDecision } from '../records/override-record.ts';
import { compareSources } from '../records/precedence.ts';
import { referenceOf, type SourceRecord } from '../records/source-record.ts';

/** Why a decision is not in force. */
export const CONTRADICTED =
  'earlier decisions contradict it: bds join --list and bds separate --list show them, and bds unjoin and bds unseparate take them back';

/** What the operator has decided about the source records of a group. It takes precedence over all rules. */
export interface Decided {
  /** Returns the records that are one company with this one, which is among them, strongest first. They count as one record. */
  matesOf(record: SourceRecord): readonly SourceRecord[];
  /** Checks whether the records, or others that are one company with them, are not one company. */
  areApart(a: SourceRecord, b: SourceRecord): boolean;
}

const NOTHING_DECIDED: Decided = { matesOf: (record) => [record], areApart: () => false };

/**
 * Returns what the decisions say about these records. Names of records that are not among them have no effect. If decisions contradict
 * each other, because a record has come back, those that separate apply, and of those that join the older ones. Pure, and independent
 * of the order of the arguments.
 */
export function decidedBy(decisions: readonly SourceRecord[], records: readonly SourceRecord[]): Decided {
  if (decisions.length === 0) return NOTHING_DECIDED;
  const present = new Map(records.map((record) => [referenceOf(record), record]));
  const apart = new Map<SourceRecord, Set<SourceRecord>>();
  for (const [one, ...others] of decisions.filter(isOf(SEPARATED)).map((each) => namedIn(each, present)))
    for (const other of others) {
      if (one === undefined || other === undefined) continue;
      apart.set(one, (apart.get(one) ?? new Set()).add(other));
      apart.set(other, (apart.get(other) ?? new Set()).add(one));
    }
  const mates = new Map<SourceRecord, readonly SourceRecord[]>();
  const matesOf = (record: SourceRecord) => mates.get(record) ?? [record];
  const areApart = (a: SourceRecord, b: SourceRecord) =>
    apart.size > 0 && matesOf(a).some((one) => matesOf(b).some((other) => apart.get(one)?.has(other)));
  for (const decision of decisions.filter(isOf(JOINED)).sort(byAge)) {
    const [one, ...others] = namedIn(decision, present).filter((record) => record !== undefined);
    for (const other of others) {
      if (one === undefined || matesOf(one).includes(other) || areApart(one, other)) continue;
      const joined = [...matesOf(one), ...matesOf(other)].sort(strongestFirst);
      for (const record of joined) mates.set(record, joined);
    }
  }
  return { matesOf, areApart };
}

/** Checks whether one of the decisions names the two records as separated. */
export function areSeparated(decisions: readonly SourceRecord[], a: SourceRecord, b: SourceRecord): boolean {
  const found = new Map([a, b].map((record) => [referenceOf(record), record]));
  return decisions.filter(isOf(SEPARATED)).some((decision) => {
    const [one, ...others] = namedIn(decision, found);
    return one !== undefined && others.some((other) => other !== undefined);
  });
}

/** Checks whether the clusters are as all of these decisions say. */
export function areObeyed(
  decisions: readonly SourceRecord[],
  clusters: readonly (readonly SourceRecord[])[],
): boolean {
  const clusterOf = new Map(
    clusters.flatMap((members) => members.map((each) => [referenceOf(each), members])),
  );
  return decisions.every((decision) => {
    const [one, ...others] = namedIn(decision, clusterOf);
    return isOf(JOINED)(decision)
      ? new Set([one, ...others].filter((each) => each !== undefined)).size < 2
      : one === undefined || !others.includes(one);
  });
}

/**
 * Returns the references of the source records whose ids their companies should have once the decisions are made, or undone, in order of
 * preference: of joined companies the first one keeps its id, and when they are separated again the others get theirs back.
 */
export function preferredBy(decisions: readonly SourceRecord[]): string[] {
  return decisions.flatMap(({ overrides, brand }) => {
    const named = overrides?.records ?? [];
    const isJoin = overrides?.overrides.some(({ field }) => field === JOINED);
    return (isJoin ? named : named.filter((each) => givesId(each, brand.id))).map(referenceOf);
  });
}

/** Checks whether a company with this id has it from the source record. */
export function givesId(record: { readonly source: string; readonly id: string }, id: string): boolean {
  return id === record.id || id === `${record.source}--${record.id}`;
}

function isOf(field: string) {
  return (decision: SourceRecord) => isDecision(decision, field);
}

function namedIn<T>({ overrides }: SourceRecord, found: ReadonlyMap<string, T>): (T | undefined)[] {
  return (overrides?.records ?? []).map((named) => found.get(referenceOf(named)));
}

function byAge(a: SourceRecord, b: SourceRecord): number {
  const timeOf = ({ overrides }: SourceRecord) => overrides?.overrides[0]?.atMs ?? 0;
  return timeOf(a) - timeOf(b) || compareTexts(a.id, b.id);
}

function strongestFirst(a: SourceRecord, b: SourceRecord): number {
  return compareSources(a.source, b.source) || compareTexts(a.id, b.id);
}
