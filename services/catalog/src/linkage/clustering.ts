import { compareTexts, linkBetween } from '@brand-data/identifiers';
import { compareSources } from '../records/merge.ts';
import type { SourceRecord } from '../records/source-record.ts';
import { blockingIndex } from './blocking-index.ts';

/** The strength of the evidence that two source records describe one company; 0: they are not linked. Symmetric. */
export type LinkStrengthOf = (a: SourceRecord, b: SourceRecord) => number;

/** Quotes, and records of one source, are never linked with each other. */
export const linkStrength: LinkStrengthOf = (a, b) =>
  a.isQuote || b.isQuote || a.source === b.source ? 0 : linkBetween(a.identity, b.identity);

/** Compares each pair once. */
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
 * Divides source records into clusters, one a company, each with its strongest source first.
 *
 * Source after source, the strongest first, every record joins the cluster with whose members it has the strongest link,
 * or founds a cluster where it has none. A cluster takes one record of a source: the most strongly linked one, then the
 * one with the cluster's own id, then the one with the smaller id. A cluster's id is its founder's. No two clusters have
 * one id, because an equal id is the strongest link.
 *
 * Pure, and the order of `records` has no influence. Neither have records that are not linked: linked records form the
 * same clusters whatever other records there are.
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
