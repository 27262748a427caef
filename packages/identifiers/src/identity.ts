import { type Brand, BrandType } from '@brand-data/contracts';
import { domainNamesOf } from './domains.ts';
import { exchangeOfMic } from './exchanges.ts';
import { companyNameKeys } from './keys.ts';
import { coreName, normalName } from './names.ts';
import { exchangeTickerKey } from './tickers.ts';

/** A record has a few of each kind; longer lists are cut at the same place whoever asks, tickers last. */
const MOST_KEYS = 64;
const MOST_OF_KIND = 12;

/** Its international board lists shares from all over the world under the tickers that they have at home. */
const BOARD_OF_HOME_TICKERS = { mic: 'XMEX', country: 'MX' };
/** Nobody's home. */
const OVER_THE_COUNTER = 'OTCM';

/** How strong the evidence is that two records are of one company, strongest first; 0: they are not. */
export const LINK = { id: 5, entity: 4, security: 3, ticker: 2, weak: 1, none: 0 } as const;
export type LinkStrength = (typeof LINK)[keyof typeof LINK];

/** What tells whether another source's record is of the same company. Derived once a record, by identityOf. */
export interface Identity {
  readonly isManager: boolean;
  /**
   * The keys under which another source may hold the same company, strongest kind first: `id:apple`, `qid:Q312`,
   * `lei:…`, `figi:…` (share class, composite), `isin:…`, `cusip:…`, `named:apple@US`, `domain:apple.com`,
   * `ticker:APC@XETR`; of a superinvestor `id:…` and `superinvestor:…`. Bounded. Records that `linkBetween` links share
   * one of them at least.
   */
  readonly keys: readonly string[];
  /** Derived at its first use, as `names` is: most records meet none that shares a key with them. */
  readonly evidence: () => Evidence;
  /** All names, former ones too, as they are compared. */
  readonly names: () => ReadonlySet<string>;
}

interface Evidence {
  readonly keys: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
  readonly domains: readonly string[];
  readonly shareClasses: readonly string[];
  /** Keys of listings at home, by the company's country and by its securities'. */
  readonly homeListings: ReadonlySet<string>;
  /** Without venue and signs: of listings in the company's country. */
  readonly homeTickers: ReadonlySet<string>;
  /** With the name and the country it tells the company. */
  readonly besideName: readonly string[];
  readonly firm: string;
}

export function identityOf(brand: Brand): Identity {
  const isManager = brand.type === BrandType.SUPERINVESTOR;
  const keys = isManager ? managerKeys(brand) : companyKeys(brand);
  return {
    isManager,
    keys,
    evidence: once(() => evidenceOf(brand, keys)),
    names: once(() => comparableNamesOf(brand)),
  };
}

/**
 * What another record must have in common beside a key, so that the two can be linked by it: one of these. Undefined:
 * nothing more. What thousands share, a host or a name, so brings together only the few that may be linked.
 */
export function factsBeside(identity: Identity, key: string): readonly string[] | undefined {
  switch (kindOf(key)) {
    case 'domain':
      return [...identity.names()];
    case 'ticker':
      return [...identity.names(), ...identity.evidence().domains];
    case 'named':
      return identity.evidence().besideName;
    case 'superinvestor':
      return [identity.evidence().firm];
    default:
      return undefined;
  }
}

/**
 * Whether records of different sources are of one company, and how strong the evidence is (LINK). Symmetric.
 *
 * An identifier of a security that both have is not believed where another of a kind that both have contradicts it
 * (the same FIGI, but no ISIN in common): sources hang identifiers on the wrong company. Then the names must agree, and
 * so they must where no more than a listing or a domain is shared. Without contradiction, two facts that do not depend on
 * one another are enough: a listing at home and a domain, whatever the names; or an equal name in the same country, and
 * the city of the headquarters or the ticker. Names alone are never enough.
 */
export function linkBetween(a: Identity, b: Identity): LinkStrength {
  if (a.isManager !== b.isManager) return LINK.none;
  const [ofA, ofB] = [a.evidence(), b.evidence()];
  const common = a.keys.filter((key) => ofB.keys.has(key));
  if (common.length === 0) return LINK.none;
  const share = (kind: string) => common.some((key) => kindOf(key) === kind);
  const conflict = (kind: string) => ofA.kinds.has(kind) && ofB.kinds.has(kind) && !share(kind);

  if (share('id')) return LINK.id;
  if (a.isManager) return ofA.firm !== '' && ofA.firm === ofB.firm ? LINK.id : LINK.none;
  if (share('qid') || share('lei')) return LINK.entity;
  const isOtherEntity = conflict('qid') || conflict('lei');
  const isContradicted =
    isOtherEntity || conflict('isin') || areApart(new Set(ofA.shareClasses), new Set(ofB.shareClasses));
  if (share('isin') || share('figi') || share('cusip'))
    return !isContradicted || namesAgree(a, b) ? LINK.security : LINK.none;
  if (isOtherEntity) return LINK.none;
  if ((share('ticker') || share('domain')) && namesAgree(a, b))
    return share('ticker') ? LINK.ticker : LINK.weak;
  if (isContradicted || conflict('cusip')) return LINK.none;
  const isAtHome = common.some((key) => ofA.homeListings.has(key) || ofB.homeListings.has(key));
  if (isAtHome && share('domain')) return LINK.weak;
  const hasName = share('named') && !areApart(ofA.homeTickers, ofB.homeTickers);
  return hasName && ofA.besideName.some((fact) => ofB.besideName.includes(fact)) ? LINK.weak : LINK.none;
}

/** Whether any name of the one, a former one too, agrees with any of the other's. */
export function namesAgree(a: Identity, b: Identity): boolean {
  return hasCommon(a.names(), b.names());
}

/**
 * A normal name in the forms that identity compares, looser than look-ups may: the usual abbreviations are written
 * out, the words that come and go between sources (group, holdings) are left off, and, each in a form of its own,
 * neither the spaces between the words nor their order count. Words that tell companies apart stay: "Toyota
 * Industries" is not "Toyota Motor".
 */
export function comparableNames(normal: string): string[] {
  const words = normal.split(' ').map((word) => ABBREVIATIONS.get(word) ?? word);
  const telling = words.filter((word) => !COME_AND_GO.has(word));
  const compared = telling.length > 0 ? telling : words;
  return [compared.join(''), compared.toSorted().join(' ')];
}

const ABBREVIATIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    america: ['amer'],
    american: ['amern'],
    associates: ['assoc', 'assocs'],
    bancorporation: ['bancorp'],
    communications: ['comm', 'comms', 'commun', 'communication'],
    development: ['dev', 'devel', 'developments'],
    electric: ['elec', 'elect'],
    electronics: ['electr', 'electronic'],
    energy: ['engy', 'enrgy'],
    engineering: ['eng', 'engr', 'engrg'],
    enterprises: ['ent', 'entpr', 'enterprise'],
    entertainment: ['entmt', 'entertainmt'],
    environmental: ['env', 'environ'],
    exploration: ['expl', 'explor'],
    financial: ['fin', 'finl', 'financials'],
    group: ['grp', 'gp', 'groupe', 'gruppe', 'gruppo', 'grupo', 'konzern'],
    healthcare: ['hlthcare', 'hlthcr'],
    holdings: ['hldg', 'hldgs', 'hlds', 'hldngs', 'hdg', 'hdgs', 'hds', 'holding'],
    industries: ['ind', 'inds', 'indl', 'industry'],
    insurance: ['ins'],
    international: ['intl', 'int', 'internat', 'intern', 'internatl', 'internationl'],
    investment: ['inv', 'invt', 'invest', 'investments', 'invts'],
    laboratories: ['lab', 'labs', 'laboratory'],
    manufacturing: ['mfg', 'manuf'],
    management: ['mgmt', 'mgt'],
    materials: ['matls'],
    medical: ['med'],
    minerals: ['min', 'mineral'],
    mining: ['mng'],
    national: ['natl', 'nat'],
    petroleum: ['pete', 'petrol'],
    pharmaceuticals: ['pharma', 'pharm', 'pharms', 'pharmaceutical', 'pharmac'],
    production: ['prodtn', 'productions'],
    products: ['prods', 'prod', 'product'],
    properties: ['prop', 'props', 'ppty', 'pptys', 'property'],
    reinsurance: ['re'],
    resources: ['res', 'resource', 'rsc', 'rscs'],
    semiconductor: ['semicon', 'semicond', 'semi', 'semiconductors'],
    services: ['svc', 'svcs', 'serv', 'servs', 'service'],
    solutions: ['sol', 'solns', 'solution'],
    systems: ['sys', 'syst', 'system'],
    technologies: ['tech', 'techs', 'techn', 'technol', 'technology', 'tec', 'technolgies'],
    telecommunications: ['telecom', 'telecomm', 'telecommunication'],
    therapeutics: ['thera', 'therap', 'therapeutic'],
    transportation: ['trans', 'transp'],
    united: ['utd'],
  }).flatMap(([word, short]) => short.map((abbreviation) => [abbreviation, word] as const)),
);

/** Legal forms that stand elsewhere than at the end are among them: "Co" in "Walt Disney Co (The)". */
const COME_AND_GO: ReadonlySet<string> = new Set([
  'and',
  'co',
  'company',
  'corp',
  'corporation',
  'group',
  'holdings',
  'inc',
  'limited',
  'ltd',
  'of',
  'plc',
  'the',
]);

/** In the forms that identity compares, with and without their legal forms, current and former. */
function comparableNamesOf(brand: Brand): Set<string> {
  if (brand.type === BrandType.SUPERINVESTOR) return new Set();
  const normals = new Set(companyNameKeys(brand).map(({ key }) => key.slice('name:'.length)));
  return new Set([...normals].flatMap(comparableNames));
}

function companyKeys(brand: Brand): string[] {
  const { id, links, lei, listings, stock } = brand;
  const keys = new Set(id === '' ? [] : [`id:${id}`]);
  const add = (kind: string, values: readonly string[]) => {
    for (const value of values.slice(0, MOST_OF_KIND)) keys.add(`${kind}:${value}`);
  };
  const isins = identifiers([...listings.map(({ isin }) => isin), stock?.isin]);
  add('qid', identifiers([links?.wikidataQid]));
  add('lei', identifiers([lei]));
  add('figi', identifiers([...shareClassesOf(brand), ...listings.map(({ compositeFigi }) => compositeFigi)]));
  add('isin', isins);
  add('cusip', identifiers([...listings.map(({ cusip }) => cusip), stock?.cusip, ...isins.map(cusipOfIsin)]));
  add('named', namedOf(brand));
  add('domain', [...new Set(domainNamesOf(brand))]);
  for (const listing of listings) {
    const key = exchangeTickerKey(listing);
    if (key !== undefined) keys.add(key);
  }
  return [...keys].slice(0, MOST_KEYS);
}

function managerKeys(brand: Brand): string[] {
  const name = normalName(brand.name);
  return [...(brand.id === '' ? [] : [`id:${brand.id}`]), ...(name === '' ? [] : [`superinvestor:${name}`])];
}

/** "apple@US", of records that have a country, and something that may tell the company beside it. */
function namedOf(brand: Brand): string[] {
  const country = countryOf(brand);
  if (country === '' || (brand.listings.length === 0 && cityOf(brand) === '')) return [];
  const core = coreName(brand.name);
  return core === '' ? [] : [`${core}@${country}`];
}

function evidenceOf(brand: Brand, keys: readonly string[]): Evidence {
  const country = countryOf(brand);
  const homes = new Set(
    identifiers([country, ...[...brand.listings, brand.stock].map((security) => security?.isin.slice(0, 2))]),
  );
  const listed = brand.listings.flatMap((listing) => {
    const key = exchangeTickerKey(listing);
    const venue = exchangeOfMic(listing.mic);
    return key === undefined || venue === undefined || venue.mic === OVER_THE_COUNTER ? [] : { key, venue };
  });
  const tickersWhere = (isWanted: (venue: { mic: string; country: string }) => boolean) =>
    listed.filter(({ venue }) => isWanted(venue)).map(({ key }) => tickerText(key));
  const homeTickers = new Set(tickersWhere((venue) => venue.country === country));
  const asAtHome = tickersWhere(
    ({ mic }) => mic === BOARD_OF_HOME_TICKERS.mic && country !== BOARD_OF_HOME_TICKERS.country,
  );
  const city = cityOf(brand);
  return {
    keys: new Set(keys),
    kinds: new Set(keys.map(kindOf)),
    domains: keys.filter((key) => kindOf(key) === 'domain'),
    shareClasses: shareClassesOf(brand),
    homeListings: new Set(
      listed
        .filter(({ venue }) => (homes.size === 0 ? brand.listings.length === 1 : homes.has(venue.country)))
        .map(({ key }) => key),
    ),
    homeTickers,
    besideName: [
      ...(city === '' ? [] : [`city:${city}`]),
      ...new Set([...homeTickers, ...asAtHome].map((ticker) => `ticker:${ticker}`)),
    ],
    firm: normalName(brand.manager?.firm ?? ''),
  };
}

function countryOf(brand: Brand): string {
  return brand.company?.headquarters?.countryCode.toUpperCase() ?? '';
}

/** "New York" and "New York City" are one, "St. Paul" and "Saint Paul" too. */
function cityOf(brand: Brand): string {
  return normalName(brand.company?.headquarters?.city ?? '')
    .replace(/ city$/, '')
    .replace(/^st /, 'saint ');
}

/** Venues differ in the signs between a ticker and its class. */
function tickerText(key: string): string {
  return key.slice('ticker:'.length, key.indexOf('@')).replaceAll('-', '');
}

function shareClassesOf({ listings }: Brand): string[] {
  return identifiers(listings.map(({ shareClassFigi }) => shareClassFigi));
}

/** North American ISINs hold the CUSIP, which other sources may give alone. */
function cusipOfIsin(isin: string): string | undefined {
  return /^(?:US|CA)[A-Z0-9]{10}$/.test(isin) ? isin.slice(2, 11) : undefined;
}

/** Upper case, each once, without the absent ones. */
function identifiers(values: readonly (string | undefined)[]): string[] {
  const distinct = new Set<string>();
  for (const value of values) {
    const identifier = value?.trim().toUpperCase();
    if (identifier) distinct.add(identifier);
  }
  return [...distinct];
}

function kindOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

/** Both have some, and none in common. */
function areApart(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size > 0 && b.size > 0 && !hasCommon(a, b);
}

function hasCommon(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const value of a) if (b.has(value)) return true;
  return false;
}

function once<T>(derive: () => T): () => T {
  let derived: { value: T } | undefined;
  return () => {
    derived ??= { value: derive() };
    return derived.value;
  };
}
