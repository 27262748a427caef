import { compareTexts, linkBetween } from '@brand-data/identifiers';
import { compareSources } from '../records/precedence.ts';
import type { SourceRecord } from '../records/source-record.ts';
import { blockingIndex } from './blocking-index.ts';

/** The strength of the evidence that two source records describe one company, or 0 if they are not linked. Symmetric. */
export type LinkStrengthOf = (a: SourceRecord, b: SourceRecord) => number;

/** Returns 0 for two records of the same source, and for any quote. */
export const linkStrength: LinkStrengthOf = (a, b) =>
  a.isQuote || b.isQuote || a.source === b.source ? 0 : linkBetween(a.identity, b.identity);

/** Remembers the strength of each pair, so that it is computed once. */
export function memoized(strengthOf: LinkStrengthOf): LinkStrengthOf {
  const strengths = new Map<SourceRecord, Map<SourceRecord, number>>();
  return (a, b) => {
    const known = strengths.get(a)?.get(b) ?? strengths.get(b)?.get(a);
    if (known !== undefined) return known;
    const strength = strengthOf(a, b);
    const ofA = strengths.get(a) ?? new Map<SourceRecord, number>();
    strengths.set(a, ofA.set(b, strength));
    return strength;
  };
}

/**
 * Divides source records into clusters. Each cluster is one company, and its record from the strongest source comes first.
 *
 * The function takes the sources in order, the strongest first. Each record joins the cluster to whose members it has the
 * strongest link. A record without a link founds a cluster, which gets the record's id. A cluster takes at most one record
 * of each source. If several qualify, it takes the one with the strongest link, then the one with the cluster's id, then
 * the one with the smallest id. No two clusters have the same id, because an equal id is the strongest link.
 *
 * Pure. The result does not depend on the order of `records`. Adding records that are not linked with a cluster's records
 * does not change the cluster.
 */
export function cluster(
  records: readonly SourceRecord[],
  strengthOf: LinkStrengthOf = linkStrength,
): SourceRecord[][] {
  if (records.length === 1) return [[...records]];
  const clusters: Cluster[] = [];
  const blocks = blockingIndex<Cluster>();
  const bySource = Map.groupBy(records, ({ source }) => source);
  for (const source of [...bySource.keys()].sort(compareSources)) {
    const ofSource = (bySource.get(source) ?? []).toSorted((a, b) => compareTexts(a.id, b.id));
    const pairs = ofSource.flatMap((record) =>
      [...new Set(blocks.candidates(record))].flatMap((cluster): CandidatePair[] => {
        const strength = Math.max(...cluster.members.map((member) => strengthOf(member, record)));
        return strength > 0 ? [{ record, cluster, strength }] : [];
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

function byStrength(a: CandidatePair, b: CandidatePair): number {
  const hasSameId = ({ record, cluster }: CandidatePair) => Number(record.id === cluster.id);
  return (
    b.strength - a.strength ||
    hasSameId(b) - hasSameId(a) ||
    compareTexts(a.record.id, b.record.id) ||
    compareTexts(a.cluster.id, b.cluster.id)
  );
}
