import {
  compareTexts,
  contradictionsBetween,
  haveOneDomain,
  type Link,
  linkBetween,
} from '@brand-data/identifiers';
import { compareSources, statesListings } from '../records/precedence.ts';
import type { SourceRecord } from '../records/source-record.ts';
import { blockingIndex } from './blocking-index.ts';
import { type Decided, decidedBy } from './decisions.ts';
import { nameKeysOf, namesOfOneRecord } from './shared-names.ts';

/** Whether two source records describe one company. Symmetric. */
export type LinkOf = (a: SourceRecord, b: SourceRecord) => Link;

const NO_LINK: Link = { strength: 0, strengthIfUnique: 0, isFirm: false };

/** Two records of the same source are not linked, unless each of its records is one listing, nor is any quote. */
export const linkOf: LinkOf = (a, b) =>
  a.isQuote || b.isQuote || (a.source === b.source && !statesListings(a.source))
    ? NO_LINK
    : linkBetween(a.identity, b.identity);

/** Remembers the link of each pair, so that it is computed once. */
export function memoized(linkOf: LinkOf): LinkOf {
  const links = new Map<SourceRecord, Map<SourceRecord, Link>>();
  return (a, b) => {
    const known = links.get(a)?.get(b) ?? links.get(b)?.get(a);
    if (known !== undefined) return known;
    const link = linkOf(a, b);
    const ofA = links.get(a) ?? new Map<SourceRecord, Link>();
    links.set(a, ofA.set(b, link));
    return link;
  };
}

interface ClusterOptions {
  readonly linkOf?: LinkOf;
  /** Names in a country that are shared by more records than `records` holds. No link rests on one of these names. */
  readonly commonNames?: ReadonlySet<string>;
  /** What the operator has decided about the records. */
  readonly decisions?: readonly SourceRecord[];
}

/**
 * Divides source records into clusters. Each cluster is one company, and its record from the strongest source comes first.
 *
 * The function takes the sources in order, the strongest first. Each record joins the cluster to whose members it has the
 * strongest link. A record without a link founds a cluster, which gets the record's id. A cluster takes at most one record
 * of each source. If several qualify, it takes the one with the strongest link, then the one with the cluster's id, then
 * the one with the smallest id. A cluster does not take a record that contradicts one of its members, unless a firm link outweighs
 * the only contradiction.
 *
 * If each record of a source is one listing, a cluster takes as many of them as are linked with it or with one another. The function
 * follows their links from the strongest to the weakest.
 *
 * A record that is linked with two clusters joins them if both may be one company (mayMeet).
 *
 * Records that the operator has joined are always in one cluster, whatever their sources, and those that the operator has separated never
 * are. Of joined records the strongest one joins a cluster or founds one, and the others follow it. They contradict another record
 * only if all of them do, because the operator has seen that they differ.
 *
 * Pure. The result does not depend on the order of `records`. Adding records that neither are linked with a cluster's records nor
 * share their name and country does not change the cluster.
 */
export function cluster(
  records: readonly SourceRecord[],
  { linkOf: link = linkOf, commonNames, decisions = [] }: ClusterOptions = {},
): SourceRecord[][] {
  if (records.length === 1) return [[...records]];
  const haveUniqueName = namesOfOneRecord(records, commonNames);
  const strengthOf: StrengthOf = (a, b) => {
    const { strength, strengthIfUnique } = link(a, b);
    return strengthIfUnique > strength && haveUniqueName(a, b) ? strengthIfUnique : strength;
  };
  const clusters = new Clusters({ link, strengthOf, decided: decidedBy(decisions, records) });
  const bySource = Map.groupBy(records, ({ source }) => source);
  for (const source of [...bySource.keys()].sort(compareSources)) {
    const ofSource = (bySource.get(source) ?? []).toSorted((a, b) => compareTexts(a.id, b.id));
    if (statesListings(source)) clusters.addListings(ofSource);
    else clusters.addRecords(ofSource);
  }
  return clusters.all();
}

type StrengthOf = (a: SourceRecord, b: SourceRecord) => number;

interface Links {
  readonly link: LinkOf;
  readonly strengthOf: StrengthOf;
  readonly decided: Decided;
}

interface Cluster {
  readonly id: string;
  readonly members: SourceRecord[];
}

interface CandidatePair {
  readonly record: SourceRecord;
  readonly cluster: Cluster;
  readonly strength: number;
}

class Clusters {
  readonly #clusterOf = new Map<SourceRecord, Cluster>();
  readonly #blocks = blockingIndex<SourceRecord>();
  readonly #links: Links;

  constructor(links: Links) {
    this.#links = links;
  }

  all(): SourceRecord[][] {
    return [...new Set(this.#clusterOf.values())].map(({ members }) =>
      members.sort((a, b) => compareSources(a.source, b.source) || compareTexts(a.id, b.id)),
    );
  }

  /** Adds the records of a source that has one record for each company. */
  addRecords(ofSource: readonly SourceRecord[]): void {
    const pairs = ofSource.flatMap((record) => {
      const single = { id: record.id, members: [record] };
      return this.#pairsOf(record).filter(({ cluster }) => !isContradicted(single, cluster, this.#links));
    });
    const matches = new Map<SourceRecord, Cluster>();
    const taken = new Set(ofSource.flatMap((record) => this.#clusterOfJoined(record) ?? []));
    for (const { record, cluster } of pairs.sort(byStrength)) {
      if (this.#leaderOf(record) !== record || matches.has(record) || taken.has(cluster)) continue;
      matches.set(record, cluster);
      taken.add(cluster);
    }
    for (const record of ofSource) this.#add(record, matches.get(record) ?? this.#clusterOfJoined(record));
    this.#join(pairs);
  }

  /** Adds the records of a source that has one record for each listing. */
  addListings(listings: readonly SourceRecord[]): void {
    const pairs = listings.flatMap((record) => {
      const pairs = this.#pairsOf(record);
      this.#add(record, this.#clusterOfJoined(record));
      return pairs;
    });
    this.#join(pairs);
  }

  /** Joins the cluster of each pair's record with the pair's cluster, from the strongest link to the weakest. */
  #join(pairs: CandidatePair[]): void {
    for (const { record, cluster: linked } of pairs.sort(byStrength)) {
      const from = this.#clusterOf.get(record);
      const to = this.#clusterOf.get(linked.members[0] ?? record);
      if (from === undefined || to === undefined || from === to) continue;
      if (!this.#mayMeet(record, from, to) || isContradicted(from, to, this.#links)) continue;
      for (const member of from.members) this.#clusterOf.set(member, to);
      to.members.push(...from.members);
    }
  }

  /**
   * Checks whether the record, which is linked with both clusters, may join them. No source with one record for each company may have
   * one in both. If two of these records are not linked although they have one name, the record must be linked with one of them by
   * more than the name.
   */
  #mayMeet(record: SourceRecord, one: Cluster, other: Cluster): boolean {
    const ofCompany = ({ source }: SourceRecord) => !statesListings(source);
    const [ofOne, ofOther] = [one.members.filter(ofCompany), other.members.filter(ofCompany)];
    const pairs = ofOne.flatMap((a) => ofOther.map((b) => [a, b] as const));
    if (pairs.some(([a, b]) => a.source === b.source)) return false;
    const { link, strengthOf } = this.#links;
    const areNamesakes = pairs.some(
      ([a, b]) => strengthOf(a, b) === 0 && nameKeysOf(a).some((key) => b.identity.keys.includes(key)),
    );
    return !areNamesakes || [...ofOne, ...ofOther].some((member) => link(member, record).strength > 0);
  }

  /** Returns the strongest record that the operator has joined with this one, or itself. It comes first of all of them. */
  #leaderOf(record: SourceRecord): SourceRecord {
    return this.#links.decided.matesOf(record)[0] ?? record;
  }

  /** Undefined if none of the records that the operator has joined with this one has a cluster yet. */
  #clusterOfJoined(record: SourceRecord): Cluster | undefined {
    return this.#clusterOf.get(this.#leaderOf(record));
  }

  #add(record: SourceRecord, cluster: Cluster = { id: record.id, members: [] }): void {
    cluster.members.push(record);
    this.#clusterOf.set(record, cluster);
    this.#blocks.add(record, record);
  }

  /** Returns the clusters that have a member with a link to the record, each with its strongest link. */
  #pairsOf(record: SourceRecord): CandidatePair[] {
    const candidates = [...this.#blocks.candidates(record)].flatMap(
      (other) => this.#clusterOf.get(other) ?? [],
    );
    return [...new Set(candidates)].flatMap((cluster) => {
      const strength = Math.max(...cluster.members.map((member) => this.#links.strengthOf(member, record)));
      return strength > 0 ? [{ record, cluster, strength }] : [];
    });
  }
}

/**
 * Checks whether members of the clusters that are not linked contradict each other, and no firm link outweighs that.
 * A different website is not a contradiction if any member states it too, as Alphabet states both abc.xyz and google.com. Nothing
 * outweighs that an exchange tells two issuers apart.
 */
function isContradicted(one: Cluster, other: Cluster, { strengthOf, link, decided }: Links): boolean {
  const pairs = one.members.flatMap((a) => other.members.map((b) => [a, b] as const));
  if (pairs.some(([a, b]) => decided.areApart(a, b))) return true;
  if (pairs.length === 1) return false;
  const members = [...one.members, ...other.members];
  // "Carnival Corporation & plc" has the forms of both.
  const isFormShared = (a: SourceRecord, b: SourceRecord) =>
    members.some((each) => haveOneForm(each, a) && haveOneForm(each, b));
  const contradictions = (a: SourceRecord, b: SourceRecord) =>
    strengthOf(a, b) > 0
      ? []
      : contradictionsBetween(a.identity, b.identity).filter(
          (kind) => kind !== 'legalForm' || !isFormShared(a, b),
        );
  const found = new Set(
    pairs.flatMap(([a, b]) =>
      contradictions(a, b).filter((kind) =>
        decided
          .matesOf(a)
          .every((one) => decided.matesOf(b).every((other) => contradictions(one, other).includes(kind))),
      ),
    ),
  );
  if (pairs.some(([a, b]) => haveOneDomain(a.identity, b.identity))) found.delete('website');
  if (found.size === 0) return false;
  return found.size > 1 || found.has('issuer') || !pairs.some(([a, b]) => link(a, b).isFirm);
}

function haveOneForm(a: SourceRecord, b: SourceRecord): boolean {
  return !a.identity.names().legalFamilies.isDisjointFrom(b.identity.names().legalFamilies);
}

function byStrength(a: CandidatePair, b: CandidatePair): number {
  const hasSameId = ({ record, cluster }: CandidatePair) => Number(record.id === cluster.id);
  return (
    b.strength - a.strength ||
    hasSameId(b) - hasSameId(a) ||
    compareTexts(a.record.id, b.record.id) ||
    compareTexts(a.cluster.id, b.cluster.id)
  );
}
