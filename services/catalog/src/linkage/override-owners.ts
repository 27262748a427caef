import { linkBetween, type RecordIdentity } from '@brand-data/identifiers';
import { isDecision } from '../records/override-record.ts';
import { referenceOf, type SourceRecord } from '../records/source-record.ts';
import type { IdentifiedCluster } from './ids.ts';
import { nameKeysOf } from './shared-names.ts';

/** Above the strength of every link: the overrides name the source record. */
const NAMED = 1_000;
/** Identifiers that no two companies share. */
const SURE_KINDS = ['qid:', 'lei:', 'isin:'];

/** The company that has the overrides. */
interface Owner {
  readonly cluster: IdentifiedCluster;
  /** Whether the company has the source record that the overrides name first. No other company can then get them. */
  readonly isFirst: boolean;
}

/**
 * Returns how strongly overrides belong to the company of a source record, or 0 if they do not. The source records that the
 * overrides name come first, in their order. Other records are compared with the company as it was when a field was last set, by
 * the same rules as those that link two sources' records.
 *
 * A named source record is ignored if it now describes another company: no name agrees, and the Wikidata id, the LEI or the ISIN
 * has changed. A source may reuse an id, such as the ticker of a company that no longer exists.
 *
 * A decision about source records is claimed by those that it names, so that it is planned with them. It belongs to no company.
 *
 * @param commonNames names in a country on which no claim rests
 */
export function claimStrength(
  claimant: SourceRecord,
  record: SourceRecord,
  commonNames?: ReadonlySet<string>,
): number {
  if (claimant.overrides === undefined || record.overrides !== undefined || record.isQuote) return 0;
  const place = claimant.overrides.records.findIndex((named) => referenceOf(named) === referenceOf(record));
  if (place < 0 && isDecision(claimant)) return 0;
  if (place < 0) {
    const { strength, strengthIfUnique } = linkBetween(claimant.identity, record.identity);
    const shareRareName = nameKeysOf(record).some(
      (key) => claimant.identity.keys.includes(key) && commonNames?.has(key) !== true,
    );
    // If several companies have the name in the country, their claims are equal.
    return shareRareName ? Math.max(strength, strengthIfUnique) : strength;
  }
  return isAnotherCompany(claimant, record) ? 0 : NAMED - place;
}

/**
 * Returns the company that overrides belong to: the one with the strongest claim. Undefined if there is none, or if several have
 * an equally strong claim. Pure, and independent of the order of `clusters`.
 */
export function ownerOf(
  claimant: SourceRecord,
  clusters: readonly IdentifiedCluster[],
  commonNames?: ReadonlySet<string>,
): Owner | undefined {
  if (isDecision(claimant)) return undefined;
  const claims = clusters
    .map((cluster) => ({
      cluster,
      strength: Math.max(0, ...cluster.members.map((member) => claimStrength(claimant, member, commonNames))),
    }))
    .sort((a, b) => b.strength - a.strength);
  const [best, second] = claims;
  if (best === undefined || best.strength === 0 || best.strength === second?.strength) return undefined;
  return { cluster: best.cluster, isFirst: best.strength === NAMED };
}

function isAnotherCompany({ identity: before }: SourceRecord, { identity: now }: SourceRecord): boolean {
  const namesOf = ({ names }: RecordIdentity) => [...names().current, ...names().former];
  const hadNames = new Set(namesOf(before));
  if (namesOf(now).some((name) => hadNames.has(name))) return false;
  return SURE_KINDS.some((kind) => {
    const ofKind = (keys: readonly string[]) => keys.filter((key) => key.startsWith(kind));
    const [had, has] = [ofKind(before.keys), ofKind(now.keys)];
    return had.length > 0 && has.length > 0 && !has.some((key) => had.includes(key));
  });
}
