import { type Brand, BrandType } from '@brand-data/contracts';
import { domainNamesOf } from './domains.ts';
import { exchangeOfMic } from './exchanges.ts';
import { companyNameKeys } from './keys.ts';
import { coreName, normalName } from './names.ts';
import { cusipOfIsin } from './security-ids.ts';
import { exchangeTickerKey } from './tickers.ts';

/** Most records have a few keys of each kind. Longer lists are cut. Tickers come last, so they are cut first. */
const MAX_KEYS = 64;
const MAX_OF_KIND = 12;

/** Mexico's international board lists shares from all over the world under the tickers of their home listings. */
const BOARD_OF_HOME_TICKERS = { mic: 'XMEX', country: 'MX' };
/** OTC Markets, which is never a company's home venue. */
const OVER_THE_COUNTER = 'OTCM';

/** The strengths of the evidence that two records describe one company, strongest first. 0 means that they are not linked. */
export const LINK = { id: 5, entity: 4, security: 3, ticker: 2, weak: 1, none: 0 } as const;
export type LinkStrength = (typeof LINK)[keyof typeof LINK];

/** The evidence that links a record with other sources' records of the same company. It is computed once for each record. */
export interface Identity {
  readonly isManager: boolean;
  /**
   * The blocking keys, at most 64. If `linkBetween` links two records, they share at least one of these keys. The strongest kind
   * comes first: `id:apple`, `qid:Q312`, `lei:…`, `figi:…` (share class, composite), `isin:…`, `cusip:…`, `named:apple@US`,
   * `domain:apple.com`, `ticker:APC@XETR`. A superinvestor has `id:…` and `superinvestor:…`.
   */
  readonly keys: readonly string[];
  /** Computed at its first use, like `names`, because most records share no key with another record. */
  readonly evidence: () => Evidence;
  /** All names, current and former, in the forms of `comparableNames`. */
  readonly names: () => ReadonlySet<string>;
}

interface Evidence {
  readonly keys: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
  readonly domains: readonly string[];
  readonly shareClasses: readonly string[];
  /** Keys of listings in the company's country or in a country of its ISINs. */
  readonly homeListings: ReadonlySet<string>;
  /** Tickers of listings in the company's country, without venue and signs. */
  readonly homeTickers: ReadonlySet<string>;
  /** The headquarters' city and home tickers. If names and countries are equal, one shared key of these links two records. */
  readonly nameSecondaryKeys: readonly string[];
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
 * The secondary keys for a blocking key that is not enough on its own to link two records, such as a host or a ticker. Two records that
 * share such a blocking key are linked only if they also share a secondary key. The result is undefined if the blocking key
 * needs no secondary keys.
 */
export function secondaryKeys(identity: Identity, key: string): readonly string[] | undefined {
  switch (kindOf(key)) {
    case 'domain':
      return [...identity.names()];
    case 'ticker':
      return [...identity.names(), ...identity.evidence().domains];
    case 'named':
      return identity.evidence().nameSecondaryKeys;
    case 'superinvestor':
      return [identity.evidence().firm];
    default:
      return undefined;
  }
}

/**
 * The strength of the evidence (LINK) that records of different sources describe one company. Symmetric.
 *
 * Some sources attribute identifiers to the wrong company. So if identifiers of another kind conflict (the same FIGI, but no ISIN
 * in common), a shared security identifier is enough only if the names agree too. The names must also agree if the records share
 * only a listing or a domain. If no identifiers conflict, two independent facts are enough. These are a home listing and a
 * domain, whatever the names, or an equal name in the same country with the same headquarters' city or the same ticker. Names
 * alone are never enough.
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
  const hasOtherEntity = conflict('qid') || conflict('lei');
  const hasConflict =
    hasOtherEntity || conflict('isin') || areDisjoint(new Set(ofA.shareClasses), new Set(ofB.shareClasses));
  if (share('isin') || share('figi') || share('cusip'))
    return !hasConflict || namesAgree(a, b) ? LINK.security : LINK.none;
  if (hasOtherEntity) return LINK.none;
  if ((share('ticker') || share('domain')) && namesAgree(a, b))
    return share('ticker') ? LINK.ticker : LINK.weak;
  if (hasConflict || conflict('cusip')) return LINK.none;
  const isAtHome = common.some((key) => ofA.homeListings.has(key) || ofB.homeListings.has(key));
  if (isAtHome && share('domain')) return LINK.weak;
  const hasName = share('named') && !areDisjoint(ofA.homeTickers, ofB.homeTickers);
  return hasName && ofA.nameSecondaryKeys.some((key) => ofB.nameSecondaryKeys.includes(key))
    ? LINK.weak
    : LINK.none;
}

/** Whether any name of one record, current or former, agrees with any name of the other. */
export function namesAgree(a: Identity, b: Identity): boolean {
  return hasCommon(a.names(), b.names());
}

/**
 * The two forms of a normal name that record linkage compares. They are looser than those of look-ups: usual abbreviations are
 * written out, and words that sources often omit (group, holdings) are removed. One form ignores the spaces between the words,
 * the other form ignores their order. Words that distinguish companies stay: "Toyota Industries" is not "Toyota Motor".
 */
export function comparableNames(normal: string): string[] {
  const words = normal.split(' ').map((word) => ABBREVIATIONS.get(word) ?? word);
  const distinctive = words.filter((word) => !OPTIONAL_WORDS.has(word));
  const compared = distinctive.length > 0 ? distinctive : words;
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

/** Words that sources often omit. They include legal forms that may come before the end: "Co" in "Walt Disney Co (The)". */
const OPTIONAL_WORDS: ReadonlySet<string> = new Set([
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

/** Current and former names, with and without their legal forms. */
function comparableNamesOf(brand: Brand): Set<string> {
  if (brand.type === BrandType.SUPERINVESTOR) return new Set();
  const normals = new Set(companyNameKeys(brand).map(({ key }) => key.slice('name:'.length)));
  return new Set([...normals].flatMap(comparableNames));
}

function companyKeys(brand: Brand): string[] {
  const { id, links, lei, listings, stock } = brand;
  const keys = new Set(id === '' ? [] : [`id:${id}`]);
  const add = (kind: string, values: readonly string[]) => {
    for (const value of values.slice(0, MAX_OF_KIND)) keys.add(`${kind}:${value}`);
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
  return [...keys].slice(0, MAX_KEYS);
}

function managerKeys(brand: Brand): string[] {
  const name = normalName(brand.name);
  return [...(brand.id === '' ? [] : [`id:${brand.id}`]), ...(name === '' ? [] : [`superinvestor:${name}`])];
}

/** Such as "apple@US". Empty if the country is not known, or if the record has neither a listing nor a city. */
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
    nameSecondaryKeys: [
      ...(city === '' ? [] : [`city:${city}`]),
      ...new Set([...homeTickers, ...asAtHome].map((ticker) => `ticker:${ticker}`)),
    ],
    firm: normalName(brand.manager?.firm ?? ''),
  };
}

function countryOf(brand: Brand): string {
  return brand.company?.headquarters?.countryCode.toUpperCase() ?? '';
}

/** Returns the same text for "New York" and "New York City", and for "St. Paul" and "Saint Paul". */
function cityOf(brand: Brand): string {
  return normalName(brand.company?.headquarters?.city ?? '')
    .replace(/ city$/, '')
    .replace(/^st /, 'saint ');
}

/** A key's ticker without signs, because venues write different signs before a share class. */
function tickerText(key: string): string {
  return key.slice('ticker:'.length, key.indexOf('@')).replaceAll('-', '');
}

function shareClassesOf({ listings }: Brand): string[] {
  return identifiers(listings.map(({ shareClassFigi }) => shareClassFigi));
}

/** Distinct values in upper case, without absent and empty values. */
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

/** Whether both sets have values, but none in common. */
function areDisjoint(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
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
