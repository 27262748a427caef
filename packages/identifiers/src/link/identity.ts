import { type Brand, BrandType } from '@brand-data/contracts';
import { domainNamesOf, readWebHost, webAddressesOf } from '../keys/domains.ts';
import { cusipOfIsin } from '../keys/security-ids.ts';
import { BOARD_OF_HOME_TICKERS, exchangeTickerKey } from '../keys/tickers.ts';
import { nameWrittenOut } from '../names/abbreviations.ts';
import { legalFamiliesOf } from '../names/legal-families.ts';
import { coreName, legalFormOf, nameForms, normalName } from '../names/names.ts';
import { isTooLongForName, type NamesOfBrand, namesOfBrand, withoutYears } from '../names/names-of-brand.ts';
import { hasRegistryMark } from '../names/registry-names.ts';
import { once } from '../names/texts.ts';
import { exchangeOfMic } from '../securities/exchanges.ts';
import { isForeignCodeAt } from '../securities/main-listing.ts';
import { type CompanyName, companyName, comparableNames, compareNames } from './company-names.ts';

/** Most records have a few keys of each kind. Longer lists are cut. Tickers come last, so they are cut first. */
const MAX_KEYS = 64;
const MAX_OF_KIND = 12;
/** The most current and former names whose words are compared. */
const MAX_NAMES = 8;
/** The most words of the beginning of a name that is a secondary key. */
const MAX_FIRST_WORDS = 3;

/** Mexico's international board lists shares from all over the world under the tickers of their home listings. */
const BOARD = { mic: BOARD_OF_HOME_TICKERS, country: 'MX' };
const TICKER_OF_LETTERS = /^[A-Z]{1,6}$/;
/** EDGAR's mark of a later namesake. */
const LATER = /\/NEW\b/i;
/** The family of "Inc." and "Corp.". */
const AMERICAN_FORM = 'inc';
/** Where a company in the form "plc" is, if it is only listed in the United States. */
const HOMES_OF_PLC = ['GB', 'IE'];
/** In this country all exchanges share one list of tickers. */
const ONE_LIST_OF_TICKERS = 'DE';
/** Stands for the country in the blocking key of a listing's name, because a listing's country is often wrong or not stated. */
const ANYWHERE = '*';
/** OTC Markets, which is never a company's home venue. */
const OVER_THE_COUNTER = 'OTCM';
/**
 * Tickers that may be those of another exchange with one more letter. Mexico's board adds N to many tickers of shares from abroad. OTC
 * Markets adds F to those of shares from abroad, Y to those of receipts, and Q if the company is bankrupt.
 */
const MARKED: Readonly<Record<string, RegExp>> = {
  [BOARD.mic]: /^..+N$/,
  [OVER_THE_COUNTER]: /^.{4}[FQWY]$/,
  XNAS: /^.{4}F$/,
};

/** The evidence that links a record with other sources' records of the same company. It is computed once for each record. */
export interface RecordIdentity {
  readonly isManager: boolean;
  /** Whether the record is one listing of a company, as its source has it, and not the company with all its listings. */
  readonly isListing: boolean;
  /**
   * The blocking keys, at most 64. If `linkBetween` links two records, they share at least one of these keys. The strongest kind
   * comes first: `id:apple`, `qid:Q312`, `lei:…`, `figi:…` (share class, composite), `isin:…`, `cusip:…`, `named:apple@US`,
   * `traded:apple@AAPL`, `domain:apple.com`, `ticker:APC@XETR`, `ticker:APC@DE`. A superinvestor has `id:…` and `superinvestor:…`.
   */
  readonly keys: readonly string[];
  /** Whether the source has other records with this name in this country, so that the record is not linked by a unique name. */
  readonly hasNamesakes: boolean;
  /** Computed at its first use, like `names`, because most records share no key with another record. */
  readonly evidence: () => LinkEvidence;
  /** All names, current and former, in the forms of `comparableNames`. */
  readonly names: () => Names;
}

export interface Names {
  readonly current: ReadonlySet<string>;
  readonly former: ReadonlySet<string>;
  readonly currentNames: readonly CompanyName[];
  readonly formerNames: readonly CompanyName[];
  /** The current names without their legal forms, if they have several words beside "Group" and the like: "thomson reuters". */
  readonly ofSeveralWords: ReadonlySet<string>;
  /** Families of the legal forms in the current names. */
  readonly legalFamilies: ReadonlySet<string>;
  /** The legal forms in the current names. "Co." alone is of no family. */
  readonly legalForms: ReadonlySet<string>;
  /** Whether a registry's mark tells a current name from that of a namesake. */
  readonly isMarked: boolean;
}

export interface LinkEvidence {
  readonly keys: ReadonlySet<string>;
  /** The keys of the Wikidata item and of the LEI. '' if it is unknown. */
  readonly qid: string;
  readonly lei: string;
  /** Registrable domains of the websites and further domains. */
  readonly domains: ReadonlySet<string>;
  readonly isins: ReadonlySet<string>;
  readonly shareClasses: ReadonlySet<string>;
  /** Keys of listings in the company's country or in a country of its ISINs. */
  readonly homeListings: ReadonlySet<string>;
  /** Tickers of listings in the company's country, without venue and signs. */
  readonly homeTickers: ReadonlySet<string>;
  /** The countries in `named:…`. */
  readonly countries: ReadonlySet<string>;
  /** Whether the country in `named:…` is the stated one, that of an ISIN, or follows from "Inc.". It is otherwise a guess. */
  readonly isCountryKnown: boolean;
  /** Whether `countries` is the country of a listing, whose ticker is not one that an exchange gives to shares from abroad. */
  readonly isListedAtHome: boolean;
  /** Sector and industry as the source names them, in normal form. */
  readonly business: ReadonlySet<string>;
  /** The country's code, if the record has the headquarters' city too, or is a listing there. It is otherwise often wrong. */
  readonly sureCountry: string;
  /** The city and the country of the headquarters, such as "saint paul@US". '' if the city or the country is unknown. */
  readonly place: string;
  /** The headquarters' city and home tickers. If names and countries are equal, one shared key of these links two records. */
  readonly nameSecondaryKeys: readonly string[];
  /** The venues of the listings. */
  readonly mics: ReadonlySet<string>;
  /** What an exchange has only once for each issuer: the code by which the issuer trades, and the issuer's number in the CUSIP. */
  readonly issuerCodes: ReadonlyMap<string, string>;
  /** The venues with the FIGIs of the securities that trade there, and of those that no longer do: "BBG000MM90N1@XPAR". */
  readonly traded: ReadonlySet<string>;
  readonly delisted: ReadonlySet<string>;
  /** A superinvestor's firm without its legal form. '' if it is unknown. */
  readonly firm: string;
}

/** @param isListing whether the source states one listing of a company in each record */
export function identityOf(brand: Brand, isListing = false): RecordIdentity {
  const isManager = brand.type === BrandType.SUPERINVESTOR;
  const found = isManager ? { current: [], former: [] } : namesOfBrand(brand);
  const currentNames = once(() => companyNamesIn(found.current));
  const keys = isManager ? managerKeys(brand) : companyKeys(brand, isListing ? currentNames() : []);
  return {
    isManager,
    isListing,
    hasNamesakes: brand.hasNamesakes === true,
    keys,
    evidence: once(() => evidenceOf(brand, keys, isListing)),
    names: once(() => namesOf(found, currentNames())),
  };
}

/**
 * Returns the secondary keys for a blocking key that many records may share, such as a host or a ticker. Two records that share
 * one of these blocking keys are linked only if they also share a secondary key, or are linked by another blocking key. Undefined
 * if the blocking key needs no secondary keys.
 */
export function secondaryKeys(identity: RecordIdentity, key: string): readonly string[] | undefined {
  const { current, former, currentNames, formerNames } = identity.names();
  switch (kindOf(key)) {
    case 'domain':
      return [...current, ...former];
    case 'ticker': {
      const { domains, place } = identity.evidence();
      const starts = [...currentNames, ...formerNames].flatMap(firstWords);
      return [...new Set([...current, ...former, ...starts, ...domains, ...(place === '' ? [] : [place])])];
    }
    case 'named':
      return identity.evidence().nameSecondaryKeys;
    case 'superinvestor':
      return [identity.evidence().firm];
    default:
      return undefined;
  }
}

export function kindOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

/**
 * Returns the first word, the first two words and so on, and the whole name. If one of two names begins with the other, the names
 * therefore share a text.
 */
function firstWords({ words }: CompanyName): string[] {
  const starts = words.slice(0, MAX_FIRST_WORDS).map((_, index) => words.slice(0, index + 1).join(''));
  return [...starts, words.join('')].map((start) => `starts:${start}`);
}

function companyNamesIn(names: readonly string[]): CompanyName[] {
  return names.slice(0, MAX_NAMES).flatMap((name) => companyName(name, coreName(name)) ?? []);
}

function namesOf(found: NamesOfBrand, currentNames: readonly CompanyName[]): Names {
  const { current } = found;
  const first = current.slice(0, MAX_NAMES);
  const former = found.former.map(withoutYears);
  const formsOf = (names: readonly string[]) =>
    new Set(
      names.flatMap((name) =>
        nameForms(name).flatMap(({ form }) => [form.replaceAll(' ', ''), ...comparableNames(form)]),
      ),
    );
  return {
    current: formsOf(current),
    former: formsOf(former),
    currentNames,
    formerNames: companyNamesIn(former),
    ofSeveralWords: new Set(first.map(coreName).filter((core) => comparableNames(core)[1]?.includes(' '))),
    legalFamilies: new Set(first.flatMap(legalFamiliesOf)),
    isMarked: first.some(hasRegistryMark),
    legalForms: new Set(identifiers(first.map(legalFormOf))),
  };
}

/** @param namesAnywhere the current names of a listing, whatever its country */
function companyKeys(brand: Brand, namesAnywhere: readonly CompanyName[]): string[] {
  const { id, links, lei, listings, stock } = brand;
  const keys = new Set(id === '' ? [] : [`id:${id}`]);
  const add = (kind: string, values: readonly string[]) => {
    for (const value of values.slice(0, MAX_OF_KIND)) keys.add(`${kind}:${value}`);
  };
  const isins = isinsOf(brand);
  add('qid', identifiers([links?.wikidataQid]));
  add('lei', identifiers([lei]));
  add('figi', identifiers([...shareClassesOf(brand), ...listings.map(({ compositeFigi }) => compositeFigi)]));
  add('isin', isins);
  add('cusip', identifiers([...listings.map(({ cusip }) => cusip), stock?.cusip, ...isins.map(cusipOfIsin)]));
  add('named', [...namedOf(brand), ...namedAnywhere(namesAnywhere)]);
  add('traded', tradedOf(brand));
  add('domain', [...new Set(domainNamesOf(brand))]);
  for (const listing of listings) {
    const key = exchangeTickerKey(listing);
    if (key === undefined) continue;
    keys.add(key);
    if (exchangeOfMic(listing.mic)?.country === ONE_LIST_OF_TICKERS)
      keys.add(key.replace(/@.*$/, `@${ONE_LIST_OF_TICKERS}`));
  }
  return [...keys].slice(0, MAX_KEYS);
}

function managerKeys(brand: Brand): string[] {
  const name = normalName(bounded(brand.name));
  return [...(brand.id === '' ? [] : [`id:${brand.id}`]), ...(name === '' ? [] : [`superinvestor:${name}`])];
}

/**
 * Returns the name without its legal form and spaces, with its abbreviations written out, and the country: "apple@US". A name with a
 * registry's mark is kept whole, because the mark may tell it from a namesake. A company on an exchange has the name without the mark
 * too. If the record does not state the country, it is that of its ISINs, else that of its listings. Empty if nothing shows that the
 * record is a company and not a product: a listing, a city, or a country beside a name with a legal form.
 */
function namedOf(brand: Brand): string[] {
  const isRegistered = countryOf(brand) !== '' && legalFamiliesOf(bounded(brand.name)).length > 0;
  if (brand.listings.length === 0 && cityOf(brand) === '' && !isRegistered) return [];
  const name = bounded(brand.name);
  const isMarked = hasRegistryMark(name);
  const isTraded = !LATER.test(name) && brand.listings.some(({ mic }) => mic !== OVER_THE_COUNTER);
  const forms = [...(isMarked ? [normalName(name)] : []), ...(isMarked && !isTraded ? [] : [coreName(name)])];
  return forms
    .map((form) => nameWrittenOut(form).replaceAll(' ', ''))
    .filter((form) => form !== '')
    .flatMap((form) => homesOf(brand).map((country) => `${form}@${country}`));
}

/** Returns a listing's names without legal forms, "Group" and the like: "apple@*". Only listings of one source share them. */
function namedAnywhere([first, ...others]: readonly CompanyName[]): string[] {
  if (first === undefined) return [];
  const spellings = others.filter((other) => compareNames(first, other) !== 'other');
  return [...new Set([first, ...spellings].map(({ forms: [form = ''] }) => `${form}@${ANYWHERE}`))];
}

/**
 * Returns the name without its legal form, "Group" and the like, and a ticker of letters on whichever exchange: "altria@MO". With
 * it, "Altria" in New York meets "Altria Group" on Mexico's board. Exchanges on which shares from abroad have other tickers than
 * at home do not count.
 */
function tradedOf(brand: Brand): string[] {
  const tickers = brand.listings.flatMap(({ ticker, mic }) => {
    const venue = exchangeOfMic(mic);
    const letters = ticker.toUpperCase();
    if (venue === undefined || venue.ownTickers || !TICKER_OF_LETTERS.test(letters)) return [];
    const isMarked = MARKED[venue.mic]?.test(letters) === true;
    return isMarked ? [letters, letters.slice(0, -1)] : [letters];
  });
  if (tickers.length === 0) return [];
  const [name = ''] = comparableNames(coreName(bounded(brand.name)));
  if (name === '') return [];
  return [...new Set(tickers)].sort().map((ticker) => `${name}@${ticker}`);
}

/**
 * Returns the countries that a record's name is looked for in: the stated one, else those of its ISINs, else that of an American
 * legal form, else those of its listings, of which Mexico's board shows American shares, and so do exchanges that give shares from
 * abroad their own tickers, if the name has a legal form. A plc in New York is British or Irish. In order, so that the order of the
 * listings does not matter.
 */
function homesOf(brand: Brand): string[] {
  const stated = statedCountriesOf(brand);
  if (stated.length > 0) return stated.toSorted();
  if (hasAmericanForm(brand)) return ['US'];
  const venues = brand.listings.flatMap(({ mic }) => exchangeOfMic(mic) ?? []);
  const exchanges = venues.filter(({ mic }) => mic !== OVER_THE_COUNTER);
  const families = legalFamiliesOf(bounded(brand.name));
  const isRegistered = families.length > 0;
  const isFromAbroad = families.includes('plc') && venues.every(({ country }) => country === 'US');
  return identifiers([
    ...(isFromAbroad ? HOMES_OF_PLC : []),
    ...(venues.some(({ mic, ownTickers }) => mic === BOARD.mic || (ownTickers && isRegistered))
      ? ['US']
      : []),
    ...(exchanges.length > 0 ? exchanges : venues).map(({ country }) => country),
  ]).toSorted();
}

function statedCountriesOf(brand: Brand): string[] {
  const country = countryOf(brand);
  const ofIsins = identifiers(isinsOf(brand).map((isin) => isin.slice(0, 2)));
  if (country === '') return ofIsins;
  // Coupang, Inc. is in Seoul.
  return hasAmericanForm(brand) && ofIsins.includes('US') && cityOf(brand) === ''
    ? identifiers([country, 'US'])
    : [country];
}

function hasAmericanForm({ name }: Brand): boolean {
  return legalFamiliesOf(bounded(name)).includes(AMERICAN_FORM);
}

function evidenceOf(brand: Brand, keys: readonly string[], isListing: boolean): LinkEvidence {
  const stated = countryOf(brand);
  const isins = isinsOf(brand);
  const homes = new Set(identifiers([stated, ...isins.map((isin) => isin.slice(0, 2))]));
  const countries = new Set(homesOf(brand));
  const listed = brand.listings.flatMap((listing) => {
    const key = exchangeTickerKey(listing);
    const venue = exchangeOfMic(listing.mic);
    return key === undefined || venue === undefined || venue.mic === OVER_THE_COUNTER ? [] : { key, venue };
  });
  const tickersWhere = (isWanted: (venue: { mic: string; country: string }) => boolean) =>
    listed.filter(({ venue }) => isWanted(venue)).map(({ key }) => tickerText(key));
  const homeTickers = new Set(tickersWhere((venue) => countries.has(venue.country)));
  const asAtHome = tickersWhere(({ mic }) => mic === BOARD.mic && !countries.has(BOARD.country));
  const city = cityOf(brand);
  const place = city === '' || stated === '' ? '' : `${city}@${stated}`;
  const securities = brand.listings.flatMap(({ figi, mic }) => (figi === '' ? [] : `${figi}@${mic}`));
  const isListedAtHome =
    countries.size === 1 &&
    listed.some(
      ({ key, venue }) =>
        countries.has(venue.country) &&
        !venue.ownTickers &&
        !isForeignCodeAt(venue, venue.country, tickerText(key), ''),
    );
  return {
    keys: new Set(keys),
    qid: keys.find((key) => kindOf(key) === 'qid') ?? '',
    lei: keys.find((key) => kindOf(key) === 'lei') ?? '',
    domains: new Set(webAddressesOf(brand).flatMap((address) => readWebHost(address)?.domain ?? [])),
    isins: new Set(isins),
    shareClasses: new Set(shareClassesOf(brand)),
    homeListings: new Set(
      listed
        .filter(({ venue }) => (homes.size === 0 ? brand.listings.length === 1 : homes.has(venue.country)))
        .map(({ key }) => key),
    ),
    homeTickers,
    countries,
    isCountryKnown: (homes.size > 0 || hasAmericanForm(brand)) && (stated === '' || countries.size === 1),
    isListedAtHome,
    business: new Set(
      [brand.company?.sector ?? '', brand.company?.industry ?? '']
        .map((text) => normalName(bounded(text)))
        .filter((text) => text !== ''),
    ),
    sureCountry: place !== '' || (isListing && isListedAtHome) ? stated : '',
    place,
    nameSecondaryKeys: [
      ...(place === '' ? [] : [`city:${place}`]),
      ...new Set([...homeTickers, ...asAtHome].map((ticker) => `ticker:${ticker}`)),
    ],
    mics: new Set(brand.listings.map(({ mic }) => mic)),
    issuerCodes: issuerCodesOf(brand),
    traded: new Set(brand.stock?.isActivelyTrading === true ? securities : []),
    delisted: new Set(brand.stock?.isActivelyTrading === false ? securities : []),
    firm: coreName(bounded(brand.manager?.firm ?? '')),
  };
}

/**
 * In Tokyo an issuer's only code is a ticker of four characters; preferred shares have five. In Seoul it is the first five of six
 * characters, and the sixth is the kind of share. In Toronto it is the part before the hyphen, unless the share is delisted.
 */
const ISSUER_CODES: Readonly<Record<string, RegExp>> = {
  XKRX: /^(.{5}).$/,
  XKOS: /^(.{5}).$/,
  XTKS: /^(.{4})$/,
  XTSE: /^([^-]+)/,
};

function issuerCodesOf(brand: Brand): ReadonlyMap<string, string> {
  const { listings, stock } = brand;
  return new Map(
    listings.flatMap(({ ticker, mic, isin }) => {
      const isFormer = mic === 'XTSE' && stock?.isActivelyTrading === false;
      const code = isFormer ? undefined : ISSUER_CODES[mic]?.exec(ticker)?.[1];
      // A receipt of another country has the number of its own issuer.
      const isReceipt = ![isin.slice(0, 2), ''].includes(countryOf(brand));
      const number = isReceipt ? undefined : cusipOfIsin(isin)?.slice(0, 6);
      return [
        ...(code === undefined ? [] : ([[`ticker@${mic}`, code]] as const)),
        ...(number === undefined ? [] : ([[`cusip@${mic}`, number]] as const)),
      ];
    }),
  );
}

function countryOf(brand: Brand): string {
  return brand.company?.headquarters?.countryCode.toUpperCase() ?? '';
}

/** Returns the text, or '' if it is too long for a name, as in catalogues of earlier versions. */
function bounded(text: string): string {
  return isTooLongForName(text) ? '' : text;
}

/** Returns the same text for "New York" and "New York City", and for "St. Paul" and "Saint Paul". */
function cityOf(brand: Brand): string {
  return normalName(bounded(brand.company?.headquarters?.city ?? ''))
    .replace(/ city$/, '')
    .replace(/^st /, 'saint ');
}

/** Returns a key's ticker without signs, because venues write different signs before a share class. */
function tickerText(key: string): string {
  return key.slice('ticker:'.length, key.indexOf('@')).replaceAll('-', '');
}

function isinsOf({ listings, stock }: Brand): string[] {
  return identifiers([...listings.map(({ isin }) => isin), stock?.isin]);
}

function shareClassesOf({ listings }: Brand): string[] {
  return identifiers(listings.map(({ shareClassFigi }) => shareClassFigi));
}

/** Returns distinct values in upper case, without absent and empty values. */
function identifiers(values: readonly (string | undefined)[]): string[] {
  const distinct = new Set<string>();
  for (const value of values) {
    const identifier = value?.trim().toUpperCase();
    if (identifier) distinct.add(identifier);
  }
  return [...distinct];
}
