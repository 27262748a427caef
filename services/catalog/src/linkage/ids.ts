import { compareTexts } from '@brand-data/identifiers';
import { append } from '../records/append.ts';
import { type CatalogDoc, isOtherSecurity } from '../records/catalog-doc.ts';
import { compareSources } from '../records/precedence.ts';
import { referenceOf, type SourceRecord } from '../records/source-record.ts';

/** The source records of one company, strongest first, with the company's id. */
export interface IdentifiedCluster {
  readonly id: string;
  readonly members: readonly SourceRecord[];
}

/** Clusters whose records only these stored companies held. */
export interface Reclustered {
  /** The source records of one company each, strongest first. */
  readonly clusters: readonly (readonly SourceRecord[])[];
  readonly before: readonly CatalogDoc[];
  /** References of source records that give their companies their ids before all others, in order of preference. */
  readonly preferred: readonly string[];
}

/**
 * Gives each cluster of a change its company's id, so that no import moves an id:
 *
 * - A stored company keeps its id as long as one of its source records has this id. When it splits, the id goes with that
 *   record. If several records have it, it goes with the strongest.
 * - When stored companies are joined, the id of the company that holds the strongest record stays. If an operator joins them, or
 *   separates them again, the preferred records count as stronger than all others.
 * - A new company gets the id of its strongest record. If another company has this id, or a source record with it, the new
 *   company gets a newly made id. Of several new companies, that of the strongest record goes first.
 *
 * The ids do not depend on the order of the arguments.
 *
 * @param stored all companies that have the id of a record of the clusters
 * @param idsBefore by the references of records: ids of companies that count instead of those of their stored companies, if no
 *   other company has them. An undone import gives them back
 */
export function withIds(
  parts: readonly Reclustered[],
  stored: Iterable<CatalogDoc>,
  idsBefore: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<readonly SourceRecord[], IdentifiedCluster> {
  const holders = new Map<string, CatalogDoc[]>();
  for (const doc of stored) for (const id of new Set(idsOf(doc))) append(holders, id, doc);
  const identified = new Map<readonly SourceRecord[], IdentifiedCluster>();
  const used = new Set<string>();
  const given = new Set<string>();
  const identify = (members: readonly SourceRecord[], id: string) => {
    identified.set(members, { id, members });
    given.add(id);
    used.add(id);
    for (const member of members) used.add(member.id);
  };
  const isFree = (id: string, before: readonly CatalogDoc[]) =>
    !given.has(id) && !holders.get(id)?.some((doc) => doc._id === id && !before.includes(doc));
  for (const part of parts) {
    const free = new Map([...idsBefore].filter(([, id]) => isFree(id, part.before)));
    for (const [members, id] of keptIds(part, free)) identify(members, id);
  }
  const founded = parts.flatMap(({ clusters, before, preferred }) =>
    clusters
      .filter((members) => !identified.has(members))
      .map((members) => {
        const founder = founderOf(preferredFirst(members, preferred));
        return { founder, members, before, isPreferred: preferred.includes(referenceOf(founder)) };
      }),
  );
  founded.sort(
    (a, b) =>
      Number(b.isPreferred) - Number(a.isPreferred) ||
      compareSources(a.founder.source, b.founder.source) ||
      compareTexts(a.founder.id, b.founder.id),
  );
  for (const { founder, members, before, isPreferred } of founded) {
    // A company that gets its own id back had it beside other companies' source records with this id.
    const isInTheWay = (holder: CatalogDoc) =>
      !before.includes(holder) && (!isPreferred || holder._id === founder.id);
    const isTaken = (isPreferred ? given : used).has(founder.id) || holders.get(founder.id)?.some(isInTheWay);
    identify(members, isTaken ? ownIdOf(founder) : founder.id);
  }
  return identified;
}

function founderOf([founder]: readonly SourceRecord[]): SourceRecord {
  if (founder === undefined) throw new Error('a company has a source record');
  return founder;
}

/** Returns all ids by which an operator finds the company: its own, and those of its source records. No other security has one's. */
function idsOf({ _id, contributions }: CatalogDoc): string[] {
  if (isOtherSecurity(_id)) return [];
  return [_id, ...contributions.flatMap(({ id, quote, overrides }) => (quote || overrides ? [] : id))];
}

/** Returns the clusters that keep the id of a stored company. */
function keptIds(
  { clusters, before, preferred }: Reclustered,
  idsBefore: ReadonlyMap<string, string>,
): Map<readonly SourceRecord[], string> {
  const placeOf = placeIn(preferred);
  const storedId = new Map([
    ...before.flatMap(({ _id, contributions }) =>
      contributions.map((mark) => [referenceOf(mark), _id] as const),
    ),
    ...idsBefore,
  ]);
  const heirs = new Map<string, { record: SourceRecord; members: readonly SourceRecord[] }>();
  for (const members of clusters) {
    for (const record of members) {
      const id = storedId.get(referenceOf(record));
      if (id === undefined || (id !== record.id && id !== ownIdOf(record))) continue;
      const heir = heirs.get(id)?.record;
      if (
        heir === undefined ||
        (placeOf(record) - placeOf(heir) || compareSources(record.source, heir.source)) < 0
      )
        heirs.set(id, { record, members });
    }
  }
  const kept = new Map<readonly SourceRecord[], string>();
  for (const members of clusters) {
    const id = preferredFirst(members, preferred)
      .map((record) => storedId.get(referenceOf(record)))
      .find((each) => each !== undefined && heirs.get(each)?.members === members);
    if (id !== undefined) kept.set(members, id);
  }
  return kept;
}

function preferredFirst(members: readonly SourceRecord[], preferred: readonly string[]) {
  const placeOf = placeIn(preferred);
  return members.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function placeIn(preferred: readonly string[]): (record: SourceRecord) => number {
  const places = new Map(preferred.map((reference, place) => [reference, place]));
  return (record) => places.get(referenceOf(record)) ?? preferred.length;
}

/** Returns an id that no source gives, because ids of sources have no two hyphens side by side. */
function ownIdOf(founder: SourceRecord): string {
  return `${founder.source}--${founder.id}`;
}
