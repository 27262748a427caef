import { Brand, Listing } from '@brand-data/contracts';
import {
  exchangeOfMic,
  isIsin,
  isLei,
  normalName,
  orderListings,
  rankOfSitelinks,
} from '@brand-data/identifiers';
import { categorySlug } from '@brand-data/records';
import { readListing } from '../../formats/listing.ts';
import { tradeAmong } from './classes.ts';
import type { ItemNumber } from './entity.ts';
import MICS from './exchanges.json' with { type: 'json' };
import { type CompanyFacts, type ListName, labelAmong, type NamedFacts, NETWORKS, unique } from './facts.ts';
import type { SideStore } from './side-store.ts';

const WIKIDATA = { name: 'Wikidata', licence: 'CC0-1.0' } as const;

export interface BrandOptions {
  /** The dump's date, for items without the date of their last change. */
  dumpDate: string;
  /** Called for each listing that is left out because its exchange's MIC is unknown. */
  onUnknownExchange: (exchange: ItemNumber) => void;
}

/** Returns an item's facts as a record. Undefined if the item has no name. */
export function brandOfFacts(
  facts: CompanyFacts,
  store: SideStore,
  options: BrandOptions,
): Brand | undefined {
  const labels = (items: readonly ItemNumber[]) => unique(items.map((item) => labelOf(item, store)));
  const list = (name: ListName) => labels(facts.lists[name]);
  const { headquarters, country } = headquartersOf(facts, store);
  const [name, ...names] = namesOf(facts, nativeLanguagesOf(facts, country, store));
  if (name === undefined) return undefined;

  const listings = listingsOf(facts, store, { country: country?.countryCode ?? '', ...options });
  const [main] = listings;
  const exchange = main && exchangeOfMic(main.mic);
  const trade = tradeAmong(facts.classes);
  const industries = list('industries');
  const qid = `Q${facts.item}`;
  return Brand.fromPartial({
    id: qid.toLowerCase(),
    name,
    description: facts.description,
    category: categorySlug(trade === undefined ? '' : labelOf(trade, store)),
    rank: rankOfSitelinks(facts.editions),
    names,
    listings,
    lei: isLei(facts.lei) ? facts.lei : '',
    company: {
      industry: industries[0] ?? '',
      industries,
      companyType: facts.companyTypes,
      founded: facts.founded,
      founders: list('founders'),
      ceo: facts.ceo === undefined ? '' : labelOf(facts.ceo, store),
      keyPeople: keyPeopleOf(facts, store),
      employees: facts.employees,
      headquarters,
      areaServed: list('areaServed'),
    },
    ownership: {
      owner: list('owner'),
      parentCompany: list('parentCompany'),
      subsidiaries: list('subsidiaries'),
      divisions: list('divisions'),
    },
    offerings: { products: list('products'), brands: list('brands') },
    history: {
      formerly: formerlyOf(facts),
      predecessor: list('predecessor'),
      successor: list('successor'),
      defunct: facts.dissolved === '' ? [] : [facts.dissolved],
      fate: list('mergedInto').map((other) => `Merged into ${other}`),
    },
    transport: { hubs: list('hubs') },
    links: linksOf(facts, qid),
    ...(facts.logoFile !== '' && { images: { logoFile: facts.logoFile } }),
    ...(main && {
      stock: {
        exchange: exchange?.code ?? '',
        exchangeFullName: exchange?.name ?? '',
        indexMemberships: labels(facts.indices.filter((item) => store.named.get(item)?.isIndex === true)),
        isin: main.isin,
        ipoDate: facts.listedOn,
        isActivelyTrading: true,
      },
    }),
    sources: [
      { ...WIKIDATA, url: `https://www.wikidata.org/wiki/${qid}`, date: facts.modified || options.dumpDate },
    ],
  });
}

function labelOf(item: ItemNumber, store: SideStore): string {
  return store.named.get(item)?.label ?? '';
}

function keyPeopleOf({ people }: CompanyFacts, store: SideStore): { name: string; role: string }[] {
  return [...Map.groupBy(people, ({ item }) => labelOf(item, store))]
    .filter(([name]) => name !== '')
    .map(([name, offices]) => ({ name, role: unique(offices.map(({ role }) => role)).join(', ') }));
}

function formerlyOf({ formerNames }: CompanyFacts): string[] {
  return unique(
    formerNames.map(({ text, from, to }) =>
      to === '' ? text : `${text} (${from === '' ? 'until ' : `${from}–`}${to})`,
    ),
  );
}

function linksOf({ websites, wikipedia, accounts }: CompanyFacts, qid: string) {
  return {
    websites: websites.flatMap((website) => ownWebsite(website) ?? []),
    wikipedia: wikipedia === '' ? '' : articleUrl(wikipedia),
    wikidataQid: qid,
    socialMedia: Object.entries(NETWORKS).flatMap(([property, { name, page }]) => {
      const account = accounts[property]?.replace(/^@/, '');
      return account === undefined ? [] : { name, url: page.replace('{}', encodeURIComponent(account)) };
    }),
  };
}

const MOST_NAMES = 200;

/** Returns all current names. The display name comes first: the English, else a native, else any name. */
function namesOf(facts: CompanyFacts, nativeLanguages: readonly string[]): string[] {
  const labels = new Map(Object.entries(facts.labels));
  const native = unique(nativeLanguages.map((language) => labels.get(language) ?? ''));
  const official = facts.officialNames.map(({ text }) => text);
  const display = labels.get('en') ?? labels.get('mul') ?? native[0] ?? official[0] ?? labelAmong(labels);
  if (display === undefined) return [];
  const former = new Set(facts.formerNames.map(({ text }) => normalName(text)));
  const others = [...official, ...native, ...facts.aliases].filter((name) => !former.has(normalName(name)));
  return unique([display, ...others]).slice(0, MOST_NAMES);
}

function nativeLanguagesOf(facts: CompanyFacts, country: NamedFacts | undefined, store: SideStore): string[] {
  return [...facts.countries.map((item) => store.named.get(item)), country].flatMap((each) =>
    (each?.languages ?? []).map((language) => store.named.get(language)?.languageCode ?? ''),
  );
}

/** Returns the headquarters and their country. The company's own country comes last: it may only be registered there. */
function headquartersOf(facts: CompanyFacts, store: SideStore) {
  const { city: seatItem, latitude, longitude } = facts.headquarters;
  const placeOf = (item: ItemNumber | undefined) => (item === undefined ? undefined : store.named.get(item));
  const seat = placeOf(seatItem);
  const isCountry = seat?.countryCode !== undefined;
  const city = isCountry ? undefined : seat;
  const country = isCountry
    ? seat
    : [seat?.country, ...facts.countries].map(placeOf).find((place) => place !== undefined);
  const state = seatItem === undefined || city === undefined ? undefined : stateAbove(seatItem, store);
  const place = latitude === undefined ? city : { latitude, longitude };
  if (city === undefined && country === undefined) return { headquarters: undefined, country };
  const headquarters = {
    city: city?.label ?? '',
    state: state?.label ?? '',
    country: country?.label ?? '',
    countryCode: country?.countryCode ?? '',
    ...(place?.latitude !== undefined && { latitude: place.latitude, longitude: place.longitude }),
    cityNative: otherThan(city?.label, city?.native),
    stateNative: otherThan(state?.label, state?.native),
    countryNative: otherThan(country?.label, country?.native),
  };
  return { headquarters, country };
}

const MOST_STEPS = 8;

/** Returns the largest part of the country that contains the city, such as a state of the US, a Land or a prefecture. */
function stateAbove(city: ItemNumber, store: SideStore): NamedFacts | undefined {
  let state: NamedFacts | undefined;
  let place = store.parents.get(city);
  for (let step = 0; place !== undefined && step < MOST_STEPS; step++) {
    const facts = store.named.get(place);
    if (facts?.countryCode !== undefined) break;
    if (facts?.isSubdivision && facts.label !== '') state = facts;
    place = store.parents.get(place);
  }
  return state;
}

function otherThan(label: string | undefined, native: string | undefined): string {
  return native === undefined || native === label ? '' : native;
}

/**
 * Returns the company's listings, the main listing first. A listing without an ISIN gets the company's only ISIN of the exchange's
 * country. A company's only listing gets its only ISIN, whatever the country.
 */
function listingsOf(
  facts: CompanyFacts,
  store: SideStore,
  { country, onUnknownExchange }: { country: string; onUnknownExchange: (exchange: ItemNumber) => void },
): Brand['listings'] {
  const isins = facts.isins.filter(isIsin);
  const found = facts.listings.flatMap(({ exchange, tickers, isin }) => {
    const mic = micOfExchange(exchange, store.named.get(exchange)?.mics ?? []);
    if (mic === undefined) {
      if (tickers.length > 0) onUnknownExchange(exchange);
      return [];
    }
    return unique(tickers.map((ticker) => tickerAt(mic, ticker) ?? '')).map((ticker) => ({
      ticker,
      mic,
      isin: isIsin(isin) ? isin : '',
    }));
  });
  const listings = [...Map.groupBy(found, ({ ticker, mic }) => `${ticker}@${mic}`).values()].flatMap(
    ([first]) => first ?? [],
  );
  const withIsins = listings.map((listing) => {
    const compatriots = isins.filter((isin) => isin.startsWith(exchangeOfMic(listing.mic)?.country ?? '?'));
    const candidates = listings.length === 1 && compatriots.length === 0 ? isins : compatriots;
    const [isin] = candidates;
    const isOnlyOne = listing.isin === '' && isin !== undefined && candidates.length === 1;
    return Listing.fromPartial(isOnlyOne ? { ...listing, isin } : listing);
  });
  return orderListings(withIsins, { country });
}

/** The MICs of exchanges, by item number, as far as they are certain. */
const MIC_OF_ITEM: ReadonlyMap<string, string> = new Map(Object.entries(MICS));

/** Returns the venue's MIC. `ownMics` are the MICs that the dump gives the item. Undefined if the venue is unknown. */
export function micOfExchange(item: ItemNumber, ownMics: readonly string[]): string | undefined {
  const known =
    MIC_OF_ITEM.get(String(item)) ?? ownMics.find((mic) => exchangeOfMic(mic) !== undefined) ?? ownMics[0];
  return known === undefined ? undefined : (exchangeOfMic(known)?.mic ?? known);
}

/** Returns the ticker in the form of listings, without the exchange before a colon. Undefined if the text is not a ticker. */
export function tickerAt(mic: string, text: string): string | undefined {
  const ticker = readListing(text.replace(/^.*:/, ''), mic)?.ticker ?? '';
  return /^[A-Z0-9][A-Z0-9.&-]{0,19}$/.test(ticker) ? ticker : undefined;
}

/** Hosts that many companies share. A page on one of them is not the company's own site. */
const SHARED_HOSTS =
  /(^|\.)(facebook|instagram|twitter|x|linkedin|youtube|tiktok|pinterest|vk|weibo|medium|tumblr|github|linktr|archive|wikipedia|wikimedia|wikidata|blogspot|wordpress|sites\.google|play\.google|apps\.apple|itunes\.apple|t)\.(com|org|net|ee|me|ph)$/;

function ownWebsite(address: string): string | undefined {
  const url = /^https?:\/\//i.test(address) && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^[\w-]+(?:\.[\w-]+)+$/.test(url.hostname) || url.username !== '')
    return undefined;
  return SHARED_HOSTS.test(url.hostname) && url.pathname !== '/' ? undefined : url.href;
}

function articleUrl(title: string): string {
  return `https://en.wikipedia.org/wiki/${encodeURIComponent(title.replaceAll(' ', '_')).replace(/%(2C|2F|3A|40|24|26|2B)/g, decodeURIComponent)}`;
}
