import { createHash } from 'node:crypto';
import { type CatalogDoc, sourceRecordsFromDoc } from '@brand-data/catalog/src/records/catalog-doc.ts';
import type { SourceRecord } from '@brand-data/catalog/src/records/source-record.ts';
import {
  compareLegalFamilies,
  coreName,
  kindOf,
  legalFamiliesOf,
  readWebHost,
} from '@brand-data/identifiers';
import type { MemoryCatalogue } from './memory-catalogue.ts';

/** A company and its source records. */
export interface Cluster {
  readonly doc: CatalogDoc;
  readonly records: readonly SourceRecord[];
}

export function clustersOf(catalogue: MemoryCatalogue): Cluster[] {
  return [...catalogue.docs()].map((doc) => ({ doc, records: sourceRecordsFromDoc(doc) }));
}

/** Companies whose records have two certain countries, websites with other names, or legal forms that clash. */
export function contradictoryCompanies(clusters: readonly Cluster[]) {
  return clusters
    .map(({ doc, records }) => ({ id: doc._id, contradictions: contradictionsOf(records), records }))
    .filter(({ contradictions }) => contradictions.length > 0)
    .map(({ id, contradictions, records }) => ({ id, contradictions, records: records.map(summaryOf) }));
}

function contradictionsOf(records: readonly SourceRecord[]): string[] {
  const differ = (valuesOf: (record: SourceRecord) => readonly string[]) => {
    const known = records.map((record) => new Set(valuesOf(record))).filter(({ size }) => size > 0);
    return known.some((one) => known.some((other) => [...one].every((value) => !other.has(value))));
  };
  const families = records.map(({ brand }) => legalFamiliesOf(brand.name));
  const found = {
    country: differ(({ brand }) => {
      const { city = '', countryCode = '' } = brand.company?.headquarters ?? {};
      return city === '' || countryCode === '' ? [] : [countryCode];
    }),
    website: differ(({ brand }) =>
      websitesOf(brand).flatMap((address) => readWebHost(address)?.domain.split('.', 1)[0] ?? []),
    ),
    'legal form': families.some((one) =>
      families.some((other) => compareLegalFamilies(one, other) !== 'compatible'),
    ),
  };
  return Object.entries(found).flatMap(([name, isFound]) => (isFound ? [name] : []));
}

const websitesOf = ({ links, domains }: SourceRecord['brand']) => [...(links?.websites ?? []), ...domains];

/** Returns this many pairs of joined records of different sources, the same ones on each run. */
export function someJoins(clusters: readonly Cluster[], count: number) {
  const pairs = clusters.flatMap(({ records }) =>
    records.flatMap((one, index) => records.slice(index + 1).map((other) => [one, other] as const)),
  );
  return drawn(pairs, count, (pair) => pair.map(({ source, id }) => `${source}/${id}`).join(' ')).map(
    ([one, other]) => ({ one: summaryOf(one), other: summaryOf(other) }),
  );
}

/** Returns the items with the smallest hashes of their names, so that a small change leaves most of them. */
export function drawn<T>(items: readonly T[], count: number, nameOf: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, hash: createHash('sha256').update(nameOf(item)).digest('hex') }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1))
    .slice(0, count)
    .map(({ item }) => item);
}

/**
 * Companies that may be American and have a share on an exchange of the United States, and those of them that are in the catalogue
 * twice: another company that may be American has the same name, also without "Group" and the like, or the same ticker on the same
 * exchange. A company may be American if no record states another country.
 */
export function americanTwins(clusters: readonly Cluster[]) {
  const american = clusters.filter(({ records }) => mayBeAmerican(records));
  const keyed = american.flatMap((cluster) =>
    cluster.records.flatMap(keysOfTwin).map((key) => ({ key, cluster })),
  );
  const holders = Map.groupBy(keyed, ({ key }) => key);
  const listed = american.filter(({ records }) => records.some(isAmericanShare));
  const twins = listed.flatMap((cluster) => {
    const keys = [...new Set(cluster.records.filter(isAmericanShare).flatMap(keysOfTwin))];
    const shared = keys.filter((key) => holders.get(key)?.some((held) => held.cluster !== cluster));
    const others = new Set(shared.flatMap((key) => holders.get(key)?.map((held) => held.cluster) ?? []));
    others.delete(cluster);
    return others.size === 0
      ? []
      : [
          {
            id: cluster.doc._id,
            shared,
            companies: [cluster, ...others].map(({ records }) => records.map(summaryOf)),
          },
        ];
  });
  return { companies: listed.length, twins };
}

function keysOfTwin({ brand, identity }: SourceRecord): string[] {
  const name = coreName(
    brand.name.replace(/\s+(?:Class [A-Z] )?(?:Common|Ordinary) (?:Stock|Shares?)\b.*$/i, ''),
  );
  const ofListings = identity.keys.filter((key) => kindOf(key) === 'ticker' || kindOf(key) === 'traded');
  return [`name:${name.replaceAll(' ', '')}`, ...ofListings];
}

const AMERICAN_EXCHANGES = ['XNAS', 'XNYS', 'XASE', 'ARCX', 'BATS'];

function isAmericanShare({ brand }: SourceRecord): boolean {
  const isOther = /\b(?:warrants?|units?|rights?|preferred|notes|depositary)\b/i.test(brand.name);
  return !isOther && brand.listings.some(({ mic }) => AMERICAN_EXCHANGES.includes(mic));
}

function mayBeAmerican(records: readonly SourceRecord[]): boolean {
  const countries = records.map(({ brand }) => brand.company?.headquarters?.countryCode ?? '');
  const known = countries.filter((country) => country !== '');
  return known.length === 0 || known.includes('US');
}

function summaryOf({ source, id, brand }: SourceRecord): string {
  const { city = '', countryCode = '' } = brand.company?.headquarters ?? {};
  const listings = brand.listings
    .slice(0, 4)
    .map(({ mic, ticker, isin }) => `${mic}:${ticker} ${isin}`.trim());
  const websites = websitesOf(brand).slice(0, 3);
  const formerly = brand.history?.formerly ?? [];
  return [
    `${source}/${id}`,
    brand.name,
    ...(brand.names.length > 0 ? [`also ${brand.names.slice(0, 4).join(', ')}`] : []),
    `${city}/${countryCode}`,
    websites.join(' '),
    listings.join(', '),
    ...(formerly.length > 0 ? [`formerly ${formerly.join(', ')}`] : []),
  ].join(' | ');
}
