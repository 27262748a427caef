import { classesOf, companyTypesOf, STOCK_INDEX } from './classes.ts';
import {
  aliasesOf,
  amountOf,
  bestOf,
  cleanText,
  coordinatesOf,
  currentOf,
  type Entity,
  hasEndedBy,
  type ItemNumber,
  isBy,
  itemOf,
  localTextOf,
  qualifiersOf,
  qualifierTimes,
  type Statement,
  statementsOf,
  textOf,
  textsOf,
  timeOf,
} from './entity.ts';
import PROPERTIES from './properties.json' with { type: 'json' };

/** The properties of fields that are lists of items, and the roles of key people by property, in the order of the record. */
const { lists: LISTS, roles: ROLES } = PROPERTIES;
export type ListName = keyof typeof LISTS;

/** Social networks by the property of their accounts: the network's name, and the URL of an account's page with {} for the account. */
export const NETWORKS: Readonly<Record<string, { name: string; page: string }>> = PROPERTIES.networks;

/** The most items of a list in a record. */
const MOST = 100;
/** The most names, listings and identifiers that are read. The catalogue refuses a company with so many. */
const MOST_STATEMENTS = 1_000;
const MOST_TICKERS = 20;

export type CompanyFacts = ReturnType<typeof companyFactsOf>;

/**
 * Returns the facts of a company. Other items are numbers, because their names are known only after the second reading. The facts
 * are plain JSON, so that they can be stored on disk until then.
 */
export function companyFactsOf(entity: Entity, item: ItemNumber, now: Date) {
  const of = (property: string) => statementsOf(entity, property);
  const best = (property: string) => bestOf(currentOf(of(property), now));
  const items = (properties: readonly string[]) =>
    unique(properties.flatMap((property) => itemsOf(best(property)))).slice(0, MOST);
  const texts = (property: string) => unique(best(property).map(({ mainsnak }) => textOf(mainsnak)));

  const labels = textsOf(entity.labels);
  const descriptions = textsOf(entity.descriptions);
  const dissolved = of('P576').flatMap(({ mainsnak }) => timeOf(mainsnak) ?? [])[0];
  const isOver = isBy(now, dissolved);
  const listings = isOver ? [] : currentOf(of('P414'), now);
  const classes = classesOf(entity, 'P31');
  const roles = Object.entries(ROLES).flatMap(([property, role]) =>
    itemsOf(best(property)).map((person) => ({ item: person, role })),
  );
  const sitelinks = Object(entity.sitelinks);

  return {
    item,
    /** Labels in all languages; the country decides which of them are native. */
    labels: Object.fromEntries(labels),
    description: descriptions.get('en') ?? descriptions.get('mul') ?? '',
    aliases: unique([...aliasesOf(entity, 'en'), ...aliasesOf(entity, 'mul')]).slice(0, MOST),
    officialNames: ['P1448', 'P1813', 'P1705']
      .flatMap((property) => currentOf(of(property), now))
      .slice(0, MOST_STATEMENTS)
      .flatMap(({ mainsnak }) => localTextOf(mainsnak) ?? []),
    formerNames: formerNamesOf(of('P1448'), now).slice(0, MOST_STATEMENTS),
    classes,
    companyTypes: companyTypesOf(itemsOf(best('P31')), {
      isListed: listings.length > 0,
      hasParent: items(['P749']).length > 0,
    }),
    listings: listings.slice(0, MOST_STATEMENTS).flatMap((statement) => {
      const exchange = itemOf(statement.mainsnak);
      const tickers = qualifiersOf(statement, 'P249').slice(0, MOST_TICKERS).map(textOf).filter(Boolean);
      const isin = qualifiersOf(statement, 'P946').map(textOf)[0] ?? '';
      return exchange === undefined ? [] : [{ exchange, tickers, isin }];
    }),
    listedOn: listedOn(of('P414'), now),
    isins: texts('P946').slice(0, MOST_STATEMENTS),
    lei: texts('P1278')[0] ?? '',
    indices: items(['P361']),
    founded: best('P571').flatMap(({ mainsnak }) => timeOf(mainsnak)?.text ?? [])[0] ?? '',
    dissolved: isOver ? (dissolved?.text ?? '') : '',
    employees: employeesOf(best('P1128')),
    headquarters: headquartersOf(best('P159'), best('P625')),
    countries: items(['P17']),
    people: roles.slice(0, MOST),
    ceo: itemsOf(best('P169'))[0],
    lists: Object.fromEntries(
      Object.entries(LISTS).map(([name, properties]) => [name, items(properties)]),
    ) as Record<ListName, ItemNumber[]>,
    websites: unique(currentOf(of('P856'), now).map(({ mainsnak }) => textOf(mainsnak))).slice(0, MOST),
    accounts: Object.fromEntries(
      Object.keys(NETWORKS).flatMap((property) => {
        const [account] = texts(property);
        return account ? [[property, account]] : [];
      }),
    ),
    wikipedia: cleanText(Object(sitelinks.enwiki).title),
    /** The name of the logo's file on Wikimedia Commons. */
    logoFile: texts('P154')[0] ?? '',
    /** Wikipedia's language editions with an article. */
    editions: Object.keys(sitelinks).filter((site) => site.endsWith('wiki') && !OTHER_WIKIS.test(site))
      .length,
    /** YYYY-MM-DD. */
    modified: /^\d{4}-\d{2}-\d{2}/.exec(String(entity.modified))?.[0] ?? '',
  };
}

/** Returns the day of the first listing. '' if it is unknown, or if a listing that has ended does not say when it began. */
function listedOn(listings: readonly Statement[], now: Date): string {
  const starts = listings.flatMap((statement) => {
    const [start] = qualifierTimes(statement, 'P580');
    return start === undefined && !hasEndedBy(statement, now) ? [] : [start];
  });
  if (starts.includes(undefined)) return '';
  const [first] = starts.flatMap((start) => start ?? []).sort((a, b) => a.begins - b.begins);
  return first?.isDay ? first.text : '';
}

export function itemsNamedBy(facts: CompanyFacts): ItemNumber[] {
  const { classes, listings, indices, headquarters, countries, people, lists } = facts;
  return [
    ...classes,
    ...listings.map(({ exchange }) => exchange),
    ...indices,
    ...(headquarters.city === undefined ? [] : [headquarters.city]),
    ...countries,
    ...people.map(({ item }) => item),
    ...Object.values(lists).flat(),
  ];
}

function itemsOf(statements: readonly Statement[]): ItemNumber[] {
  return unique(statements.flatMap(({ mainsnak }) => itemOf(mainsnak) ?? []));
}

/** Returns the values without repetitions and without ''. */
export function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)].filter((value) => value !== '');
}

/** Returns the names that have ended, each with its years if they are known. */
function formerNamesOf(statements: readonly Statement[], now: Date) {
  return statements
    .filter((statement) => hasEndedBy(statement, now))
    .flatMap((statement) => {
      const text = localTextOf(statement.mainsnak)?.text;
      const year = (property: string) => qualifierTimes(statement, property)[0]?.text.slice(0, 4) ?? '';
      return text === undefined ? [] : [{ text, from: year('P580'), to: year('P582') }];
    });
}

/** Returns the latest number of employees, with its year: "164,000 (2024)". */
function employeesOf(statements: readonly Statement[]): string {
  const [latest] = statements
    .flatMap((statement) => {
      const count = amountOf(statement.mainsnak);
      const year = qualifierTimes(statement, 'P585')[0]?.text.slice(0, 4) ?? '';
      return count === undefined || count < 0 ? [] : [{ count, year }];
    })
    .sort((a, b) => (a.year < b.year ? 1 : a.year > b.year ? -1 : 0));
  if (latest === undefined) return '';
  const count = Math.round(latest.count).toLocaleString('en-US');
  return latest.year === '' ? count : `${count} (${latest.year})`;
}

function headquartersOf(seats: readonly Statement[], places: readonly Statement[]) {
  const [seat] = seats.filter(({ mainsnak }) => itemOf(mainsnak) !== undefined);
  const coordinates =
    (seat && qualifiersOf(seat, 'P625').flatMap((snak) => coordinatesOf(snak) ?? [])[0]) ??
    places.flatMap(({ mainsnak }) => coordinatesOf(mainsnak) ?? [])[0];
  return { city: itemOf(seat?.mainsnak), ...coordinates };
}

const OTHER_WIKIS =
  /^(?:commons|species|meta|wikidata|mediawiki|incubator|outreach|sources|wikimania|foundation|wikifunctions)wiki$/;

export type NamedFacts = ReturnType<typeof namedFactsOf>;

/** Returns the facts of an item that records of companies refer to. Plain JSON. */
export function namedFactsOf(entity: Entity, now: Date) {
  const best = (property: string) => bestOf(currentOf(statementsOf(entity, property), now));
  const texts = (property: string) => unique(best(property).map(({ mainsnak }) => textOf(mainsnak)));
  const native = best('P1705').flatMap(({ mainsnak }) => localTextOf(mainsnak)?.text ?? [])[0];
  const countryCode = texts('P297').find((code) => /^[A-Z]{2}$/.test(code));
  const languages = itemsOf(best('P37'));
  const languageCode = texts('P218')[0];
  const country = itemsOf(best('P17'))[0];
  const mics = texts('P7534').filter((mic) => /^[A-Z0-9]{4}$/.test(mic));
  return {
    label: labelAmong(textsOf(entity.labels)) ?? '',
    /** The name in the language of the place itself. */
    ...(native !== undefined && { native }),
    /** Only for a country: ISO 3166-1 alpha-2, and its official languages. */
    ...(countryCode !== undefined && { countryCode, languages }),
    /** Only for a language: ISO 639-1. */
    ...(languageCode !== undefined && { languageCode }),
    /** Whether the item is a part of a country and has an ISO 3166-2 code. */
    ...(texts('P300').length > 0 && { isSubdivision: true }),
    ...(country !== undefined && { country }),
    ...best('P625').flatMap(({ mainsnak }) => coordinatesOf(mainsnak) ?? [])[0],
    /** Only for an exchange: ISO 10383. */
    ...(mics.length > 0 && { mics }),
    ...(classesOf(entity, 'P31').includes(STOCK_INDEX) && { isIndex: true }),
  };
}

export function parentOf(partOf: readonly Statement[], now: Date): ItemNumber | undefined {
  const usable = partOf.filter(({ rank }) => rank !== 'deprecated');
  return itemsOf(bestOf(currentOf(usable, now)))[0];
}

/** Languages in Latin letters, the one with the most readers first. */
const READABLE = 'en mul en-gb en-ca en-us es fr de pt it nl pl sv tr id vi'.split(' ');

export function labelAmong(labels: ReadonlyMap<string, string>): string | undefined {
  const language = READABLE.find((code) => labels.has(code));
  return language === undefined ? [...labels.values()][0] : labels.get(language);
}
