import {
  compareTexts,
  contradictionsBetween,
  haveOneDomain,
  type Link,
  linkBetween,
} from '@brand-data/identifiers';
import { compareSources } from '../records/precedence.ts';
import type { SourceRecord } from '../records/source-record.ts';
import { blockingIndex } from './blocking-index.ts';
import { namesOfOneRecord } from './shared-names.ts';

/** Whether two source records describe one company. Symmetric. */
export type LinkOf = (a: SourceRecord, b: SourceRecord) => Link;

const NO_LINK: Link = { strength: 0, strengthIfUnique: 0, isFirm: false };

/** Two records of the same source are not linked, nor is any quote. */
export const linkOf: LinkOf = (a, b) =>
  a.isQuote || b.isQuote || a.source === b.source ? NO_LINK : linkBetween(a.identity, b.identity);

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
 * Pure. The result does not depend on the order of `records`. Adding records that neither are linked with a cluster's records nor
 * share their name and country does not change the cluster.
 */
export function cluster(
  records: readonly SourceRecord[],
  { linkOf: link = linkOf, commonNames }: ClusterOptions = {},
): SourceRecord[][] {
  if (records.length === 1) return [[...records]];
  const clusters: Cluster[] = [];
  const blocks = blockingIndex<Cluster>();
  const haveUniqueName = namesOfOneRecord(records, commonNames);
  const strengthOf = (a: SourceRecord, b: SourceRecord) => {
    const { strength, strengthIfUnique } = link(a, b);
    return strengthIfUnique > strength && haveUniqueName(a, b) ? strengthIfUnique : strength;
  };
  const bySource = Map.groupBy(records, ({ source }) => source);
  for (const source of [...bySource.keys()].sort(compareSources)) {
    const ofSource = (bySource.get(source) ?? []).toSorted((a, b) => compareTexts(a.id, b.id));
    const pairs = ofSource.flatMap((record) =>
      [...new Set(blocks.candidates(record))].flatMap((cluster): CandidatePair[] => {
        const strength = Math.max(...cluster.members.map((member) => strengthOf(member, record)));
        return strength > 0 && !isContradicted(record, cluster, { strengthOf, link })
          ? [{ record, cluster, strength }]
          : [];
      }),
    );
    const matches = new Map<SourceRecord, Cluster>();
    const taken = new Set<Cluster>();
    for (const { record, cluster } of pairs.sort(byStrength)) {
      if (matches.has(record) || taken.has(cluster)) continue;
      matches.set(record, cluster);
      taken.add(cluster);
    }
    for (const record of ofSource) {
      let joined = matches.get(record);
      if (joined === undefined) {
        joined = { id: record.id, members: [] };
        clusters.push(joined);
      }
      joined.members.push(record);
      blocks.add(record, joined);
    }
  }
  return clusters.map(({ members }) => members);
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

/**
 * Checks whether members that are not linked with the record contradict it, and no firm link with another member outweighs that.
 * A different website is not a contradiction if any member states it too, as Alphabet states both abc.xyz and google.com.
 */
function isContradicted(
  record: SourceRecord,
  { members }: Cluster,
  { strengthOf, link }: { strengthOf: (a: SourceRecord, b: SourceRecord) => number; link: LinkOf },
): boolean {
  if (members.length === 1) return false;
  const linked = members.filter((member) => strengthOf(member, record) > 0);
  const found = new Set(
    members
      .filter((member) => !linked.includes(member))
      .flatMap((member) => contradictionsBetween(member.identity, record.identity)),
  );
  if (members.some((member) => haveOneDomain(member.identity, record.identity))) found.delete('website');
  return found.size > 1 || (found.size === 1 && !members.some((member) => link(member, record).isFirm));
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
