import { type CatalogDoc, isOtherSecurity } from '../records/catalog-doc.ts';
import { compareSources } from '../records/precedence.ts';
import { referenceOf, type SourceRecord } from '../records/source-record.ts';

/** The source records of one company, strongest first, with the company's id. */
export interface IdentifiedCluster {
  readonly id: string;
  readonly members: readonly SourceRecord[];
}

/**
 * Gives each cluster its company's id, so that no import moves an id:
 *
 * - A stored company keeps its id as long as one of its source records has this id. When it splits, the id goes with that
 *   record. If several records have it, it goes with the strongest.
 * - When stored companies are joined, the id of the company that holds the strongest record stays.
 * - A new company gets the id of its strongest record. If another company has this id, or a source record with it, the new
 *   company gets a newly made id.
 *
 * @param clusters the source records of one company each, strongest first
 * @param before the stored companies that held these records
 * @param isTaken whether another company has the id, or a source record with it
 */
export function withIds(
  clusters: readonly (readonly SourceRecord[])[],
  before: readonly CatalogDoc[],
  isTaken: (id: string) => boolean,
): IdentifiedCluster[] {
  const kept = keptIds(clusters, before);
  const used = new Set([...kept].flatMap(([members, id]) => [id, ...members.map((member) => member.id)]));
  return clusters.map((members) => {
    const keptId = kept.get(members);
    if (keptId !== undefined) return { id: keptId, members };
    const [founder] = members;
    if (founder === undefined) throw new Error('a company has a source record');
    const id = used.has(founder.id) || isTaken(founder.id) ? ownIdOf(founder) : founder.id;
    for (const one of [id, ...members.map((member) => member.id)]) used.add(one);
    return { id, members };
  });
}

/** Returns all ids by which an operator finds the company: its own, and those of its source records. No other security has one's. */
export function idsOf({ _id, contributions }: CatalogDoc): string[] {
  if (isOtherSecurity(_id)) return [];
  return [_id, ...contributions.flatMap(({ id, quote, overrides }) => (quote || overrides ? [] : id))];
}

/** Returns the clusters that keep the id of a stored company. */
function keptIds(
  clusters: readonly (readonly SourceRecord[])[],
  before: readonly CatalogDoc[],
): Map<readonly SourceRecord[], string> {
  const storedId = new Map(
    before.flatMap(({ _id, contributions }) =>
      contributions.map((mark) => [referenceOf(mark), _id] as const),
    ),
  );
  const heirs = new Map<string, { record: SourceRecord; members: readonly SourceRecord[] }>();
  for (const members of clusters) {
    for (const record of members) {
      const id = storedId.get(referenceOf(record));
      if (id === undefined || (id !== record.id && id !== ownIdOf(record))) continue;
      const heir = heirs.get(id);
      if (heir === undefined || compareSources(record.source, heir.record.source) < 0)
        heirs.set(id, { record, members });
    }
  }
  const kept = new Map<readonly SourceRecord[], string>();
  for (const members of clusters) {
    const id = members
      .map((record) => storedId.get(referenceOf(record)))
      .find((each) => each !== undefined && heirs.get(each)?.members === members);
    if (id !== undefined) kept.set(members, id);
  }
  return kept;
}

/** Returns an id that no source gives, because ids of sources have no two hyphens side by side. */
function ownIdOf(founder: SourceRecord): string {
  return `${founder.source}--${founder.id}`;
}
