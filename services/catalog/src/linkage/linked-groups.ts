import { append } from '../records/append.ts';
import { type CatalogDoc, sourceRecordsFromDoc } from '../records/catalog-doc.ts';
import { isDecision } from '../records/override-record.ts';
import { statesListings } from '../records/precedence.ts';
import { referenceOf, type SourceRecord } from '../records/source-record.ts';
import { blockingIndex } from './blocking-index.ts';
import { type LinkOf, linkOf } from './clustering.ts';
import { claimStrength } from './override-owners.ts';
import { isCommonName, nameKeysOf } from './shared-names.ts';

/** The most source records that a group may hold: far more than any company has. */
export const MAX_LINKED = 100;
/** The most of them and of records of one listing each. FinanceDatabase has up to 120 listings of a company. */
const MAX_LISTINGS = 250;

/** Source records to put and to remove. */
export interface Change {
  /** No two puts have the same reference. */
  readonly puts: readonly SourceRecord[];
  /** Whether a stored source record is to be removed. */
  readonly isRemoved?: (stored: SourceRecord) => boolean;
  /** Whether a put is left out if no record of another source is in its company. */
  readonly onlyJoining?: boolean;
  /** References of overrides whose company is to be found again, or of records whose company may get another id. */
  readonly reassigned?: ReadonlySet<string>;
  /** Whether the puts were stored before: they get back the ids of their own imports, and quotes their companies. */
  readonly isUndo?: boolean;
}

/** A company's document with its source records decoded. */
export interface StoredCompany {
  readonly doc: CatalogDoc;
  readonly records: readonly SourceRecord[];
}

export function storedCompanyFromDoc(doc: CatalogDoc): StoredCompany {
  return { doc, records: sourceRecordsFromDoc(doc) };
}

/**
 * Companies and put records that are linked with one another or share a name in a country, and neither with a company or record
 * outside the group.
 */
export interface LinkedGroup {
  readonly puts: readonly SourceRecord[];
  readonly stored: readonly StoredCompany[];
  /**
   * The groups that this group would be without overrides, which link no source records unless they are decisions about them. Companies
   * get their ids in these parts, so that no override has an effect on an id.
   */
  readonly parts: readonly Pick<LinkedGroup, 'puts' | 'stored'>[];
  /** Names in a country on which no link rests, because too many records have them. Companies outside the group may share them. */
  readonly commonNames: ReadonlySet<string>;
}

export interface LinkageOptions {
  readonly linkOf?: LinkOf;
  /** Keys that are shared by too many documents to link any of them. */
  readonly hotKeys?: ReadonlySet<string>;
  /** By reference: the ids that companies get back, if no other company has them. */
  readonly idsBefore?: ReadonlyMap<string, string> | undefined;
}

/** Returns the groups that a change affects. A group contains only those of its companies that are in `stored`. */
export function linkedGroups(
  change: Change,
  stored: Iterable<StoredCompany>,
  { linkOf: link = linkOf, hotKeys }: LinkageOptions = {},
): LinkedGroup[] {
  const nodes = nodesOf(change, stored);
  const blocks = blockingIndex<Member>(hotKeys);
  let names: SharedNames = NO_NAMES;
  const isLinking = !nodes.every(holdsOnly(change.puts[0]?.source));
  if (isLinking) {
    for (const node of nodes) for (const record of node.records) blocks.add(record, { node, record });
    names = sharedNames(nodes, change, hotKeys);
  }
  const seen = new Set<Node>();
  const groups: LinkedGroup[] = [];
  for (const start of nodes) {
    const isAffected =
      start.puts.length > 0 ||
      names.affected.has(start) ||
      start.records.some(
        (record) => change.isRemoved?.(record) || change.reassigned?.has(referenceOf(record)),
      );
    if (!isAffected || seen.has(start)) continue;
    const members = isLinking ? nodesLinkedWith(start, seen, () => true) : [start];
    const content = contentOf(members);
    const isOfPart = (record: SourceRecord) => record.overrides === undefined || isDecision(record);
    const seenInParts = new Set<Node>();
    const parts = members.every(({ records }) => records.every(isOfPart))
      ? [content]
      : nodes
          .filter((node) => members.includes(node))
          .flatMap((node) => (seenInParts.has(node) ? [] : [nodesLinkedWith(node, seenInParts, isOfPart)]))
          .map(contentOf);
    groups.push({ ...content, parts, commonNames: names.common });
  }
  return groups;

  /**
   * Returns the nodes that are linked with `start` through records that `isFollowed`. Adds them to `seen`, and returns none of
   * it.
   */
  function nodesLinkedWith(
    start: Node,
    seen: Set<Node>,
    isFollowed: (record: SourceRecord) => boolean,
  ): readonly Node[] {
    seen.add(start);
    const members = [start];
    // The loop visits the nodes that it adds.
    for (const node of members) {
      const add = (other: Node) => {
        if (seen.has(other)) return;
        seen.add(other);
        members.push(other);
      };
      for (const record of node.records.filter(isFollowed)) {
        for (const other of blocks.candidates(record))
          if (!seen.has(other.node) && isFollowed(other.record) && isLinked(record, other.record, link))
            add(other.node);
        for (const key of nameKeysOf(record)) {
          const holders = names.holders.get(key);
          if (holders === undefined || (record.overrides === undefined && !holders.has(node))) continue;
          holders.forEach(add);
          for (const claimant of names.claimants.get(key) ?? [])
            if (isFollowed(claimant.record)) add(claimant.node);
        }
      }
    }
    return members;
  }
}

function contentOf(nodes: readonly Node[]): Pick<LinkedGroup, 'puts' | 'stored'> {
  return {
    puts: nodes.flatMap(({ puts }) => puts),
    stored: nodes.flatMap(({ stored }) => stored ?? []),
  };
}

/** Returns the keys by which further companies may be linked with a group. */
export function keysOfGroup({ puts, stored }: LinkedGroup): string[] {
  return [...keysOf(puts), ...stored.flatMap(({ records }) => keysOf(records))];
}

export function keysOf(records: readonly SourceRecord[]): string[] {
  return records.flatMap(({ identity }) => identity.keys);
}

/**
 * Checks whether the group has so many source records that some of their identifiers must be wrong. The links of a group that
 * large are not followed. Overrides do not count: they link no source records, and many of them may wait for a company of one
 * name.
 */
export function isTooLarge({ puts, stored }: LinkedGroup): boolean {
  const records = [...puts, ...stored.flatMap((company) => company.records)].filter(
    ({ overrides }) => overrides === undefined,
  );
  const listings = records.filter(({ source }) => statesListings(source)).length;
  return records.length - listings > MAX_LINKED || records.length > MAX_LISTINGS;
}

/** A company with the puts that replace its records, or a put record that belongs to no company yet. */
interface Node {
  readonly stored: StoredCompany | undefined;
  readonly puts: SourceRecord[];
  /** Both the stored records and the puts that replace them, because the group follows the links of both. */
  readonly records: SourceRecord[];
}

interface Member {
  readonly node: Node;
  readonly record: SourceRecord;
}

function nodesOf(change: Change, stored: Iterable<StoredCompany>): Node[] {
  const nodes: Node[] = [...stored].map((company) => ({
    stored: company,
    puts: [],
    records: [...company.records],
  }));
  const holders = new Map<string, Node>();
  for (const node of nodes) for (const record of node.records) holders.set(referenceOf(record), node);
  for (const put of change.puts) {
    const holder = holders.get(referenceOf(put));
    if (holder === undefined) nodes.push({ stored: undefined, puts: [put], records: [put] });
    else {
      holder.puts.push(put);
      holder.records.push(put);
    }
  }
  return nodes;
}

interface SharedNames {
  /** For each name in a country, the nodes with it that are planned together. */
  readonly holders: ReadonlyMap<string, ReadonlySet<Node>>;
  /** For each name in a country, the overrides of a company with this name. Their blocks may be too large to find them. */
  readonly claimants: ReadonlyMap<string, readonly Member[]>;
  /** Nodes with a name that the change makes common, or common no more. */
  readonly affected: ReadonlySet<Node>;
  readonly common: ReadonlySet<string>;
}
const NO_NAMES: SharedNames = {
  holders: new Map(),
  claimants: new Map(),
  affected: new Set(),
  common: new Set(),
};

/**
 * Finds the names that several records share. Whether a link rests on a name depends on all records with that name. Therefore all
 * of them are planned together: those before the change, if they are few, and those after it, if they are few. If the change
 * makes the name common, its new records are not planned with one another because of the name.
 */
function sharedNames(
  nodes: readonly Node[],
  change: Change,
  hotKeys: ReadonlySet<string> | undefined,
): SharedNames {
  const replaced = new Set(change.puts.map(referenceOf));
  const names = new Map<string, { before: Member[]; after: Member[] }>();
  const claimants = new Map<string, Member[]>();
  for (const node of nodes) {
    for (const record of node.records) {
      if (record.overrides !== undefined) {
        for (const key of nameKeysOf(record)) append(claimants, key, { node, record });
        continue;
      }
      const isPut = node.puts.includes(record);
      const isGone = !isPut && (change.isRemoved?.(record) || replaced.has(referenceOf(record)));
      for (const key of nameKeysOf(record)) {
        const name = names.get(key) ?? { before: [], after: [] };
        names.set(key, name);
        if (!isPut) name.before.push({ node, record });
        if (!isGone) name.after.push({ node, record });
      }
    }
  }
  const isCommon = (members: readonly Member[]) => isCommonName(members.map(({ record }) => record));
  const common = new Set(hotKeys);
  const holders = new Map<string, ReadonlySet<Node>>();
  const affected = new Set<Node>();
  for (const [key, { before, after }] of names) {
    if (common.has(key)) continue;
    const together = new Set(
      [before, after]
        .filter((members) => !isCommon(members))
        .flatMap((members) => members.map(({ node }) => node)),
    );
    if (together.size > 1 || (together.size === 1 && claimants.has(key))) holders.set(key, together);
    if (isCommon(before) !== isCommon(after)) for (const node of together) affected.add(node);
    if (isCommon(after)) common.add(key);
  }
  return { holders, claimants, affected, common };
}

/**
 * Checks whether the node holds only records of this source and no quotes. Nodes of this kind are never linked with each other, unless
 * each record of the source is one listing.
 */
function holdsOnly(source: string | undefined): (node: Node) => boolean {
  return ({ records }) =>
    records.every((record) => record.source === source && !record.isQuote && !statesListings(record.source));
}

/**
 * Checks whether the records belong together. A quote is linked with every company that has its listing, and overrides with every
 * company that they may belong to.
 */
function isLinked(one: SourceRecord, other: SourceRecord, link: LinkOf): boolean {
  if (one.overrides !== undefined) return claimStrength(one, other) > 0;
  if (other.overrides !== undefined) return claimStrength(other, one) > 0;
  if (one.isQuote !== other.isQuote) return true;
  return link(one, other).strength > 0;
}
