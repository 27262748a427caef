import type { RefusedLink } from '@brand-data/contracts';
import { contradictionsBetween, kindOf, whyNotLinked } from '@brand-data/identifiers';
import { append } from '../records/append.ts';
import { statesListings } from '../records/precedence.ts';
import { referenceOf, type SourceRecord, statesCompany } from '../records/source-record.ts';
import { type LinkOf, linkOf } from './clustering.ts';
import type { PlannedCompany } from './companies.ts';
import { identifierOf } from './conflicts.ts';
import { areSeparated } from './decisions.ts';
import type { LinkageOptions, StoredCompany } from './linked-groups.ts';
import { MOST_OF_ONE_NAME } from './shared-names.ts';

const SEPARATED_BY_OPERATOR = 'an operator has separated them: bds separate --list shows why';
const MAX_REFUSED = 10;
/** The most records with one key that are looked at. */
const MAX_HOLDERS = 20;
/** Keys that may link two records. */
const IDENTIFYING: ReadonlySet<string> = new Set(['id', 'qid', 'lei', 'figi', 'isin', 'cusip']);
const LINKING: ReadonlySet<string> = new Set([...IDENTIFYING, 'named', 'traded', 'domain', 'ticker']);

/** A refused link of a put record, which it names by its reference. */
export interface PutRefusedLink extends Omit<RefusedLink, 'index'> {
  readonly reference: string;
}

/** Returns at most ten refused links for each put record. Sharing a hot key alone is not reported. */
export function refusedLinksOf(
  puts: readonly SourceRecord[],
  planned: readonly PlannedCompany[],
  others: readonly StoredCompany[],
  { linkOf: link = linkOf, hotKeys, decisions }: LinkageOptions & { decisions: readonly SourceRecord[] },
): PutRefusedLink[] {
  const [source] = puts.map((put) => put.source);
  const isOther = (record: SourceRecord) => record.source !== source || statesListings(record.source);
  // Links between records of one source are never refused, and most imports meet no other links.
  if (
    !planned.some(({ members }) => members.some(isOther)) &&
    !others.some(({ records }) => records.some(isOther))
  )
    return [];
  const wanted = new Set(
    puts.flatMap(({ identity }) => identity.keys.filter((key) => isLinking(key, hotKeys))),
  );
  const holders = new Map<string, Holder[]>();
  const add = (holder: Holder) => {
    for (const key of holder.record.identity.keys) if (wanted.has(key)) append(holders, key, holder);
  };
  for (const { doc, brand, members } of planned)
    for (const record of members) add({ id: doc._id, name: brand.name, members, record });
  for (const { doc, records } of others) {
    const members = records.filter(statesCompany);
    for (const record of members) add({ id: doc._id, name: members[0]?.brand.name ?? '', members, record });
  }

  const isPut = new Set(puts.map(referenceOf));
  return planned.flatMap(({ doc, members }) =>
    members
      .filter((member) => isPut.has(referenceOf(member)))
      .flatMap((record) => {
        const shared = new Map<Holder['record'], { holder: Holder; keys: string[] }>();
        for (const key of record.identity.keys) {
          const ofKey = holders.get(key) ?? [];
          if (ofKey.length > MOST_OF_ONE_NAME && !isIdentifying(key)) continue;
          for (const holder of ofKey.slice(0, MAX_HOLDERS)) {
            if (
              holder.id === doc._id ||
              (holder.record.source === record.source && !statesListings(record.source))
            )
              continue;
            const known = shared.get(holder.record);
            if (known === undefined) shared.set(holder.record, { holder, keys: [key] });
            else known.keys.push(key);
          }
        }
        return [...shared.values()].slice(0, MAX_REFUSED).map(({ holder, keys }) => ({
          reference: referenceOf(record),
          identifiers: keys.map(identifierOf),
          otherSource: holder.record.source,
          otherRecordId: holder.record.id,
          otherId: holder.id,
          otherName: holder.name,
          reason: areSeparated(decisions, record, holder.record)
            ? SEPARATED_BY_OPERATOR
            : reasonOf(record, members, holder, link),
        }));
      }),
  );
}

interface Holder {
  readonly id: string;
  readonly name: string;
  readonly members: readonly SourceRecord[];
  readonly record: SourceRecord;
}

function reasonOf(
  record: SourceRecord,
  ownMembers: readonly SourceRecord[],
  { record: other, members }: Holder,
  link: LinkOf,
): string {
  const { strength, strengthIfUnique } = link(record, other);
  if (strength === 0 && strengthIfUnique === 0) return whyNotLinked(record.identity, other.identity);
  if (strength === 0) return 'one of the sources has several records with this name in this country';
  const better = statesListings(record.source)
    ? undefined
    : (members.find((member) => member.source === record.source) ??
      ownMembers.find((member) => member.source === other.source));
  if (better !== undefined) return `another record of ${better.source} fits better: ${better.id}`;
  const contradicting = members.find(
    (member) => contradictionsBetween(member.identity, record.identity).length > 0,
  );
  return contradicting === undefined
    ? 'another record fits better'
    : `the company's record of ${contradicting.source} contradicts it: ${whyNotLinked(contradicting.identity, record.identity)}`;
}

function isIdentifying(key: string): boolean {
  return IDENTIFYING.has(kindOf(key));
}

function isLinking(key: string, hotKeys: ReadonlySet<string> | undefined): boolean {
  return LINKING.has(kindOf(key)) && hotKeys?.has(key) !== true;
}
