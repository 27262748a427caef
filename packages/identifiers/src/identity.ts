import { type Brand, BrandType } from '@brand-data/contracts';
import { domainKeys } from './domains.ts';
import { keysOfBrand } from './keys.ts';
import { normalName } from './names.ts';
import { isBareTickerKey, tickerKeys } from './tickers.ts';

/** A record has a few of each kind; a longer list is cut at the same place whoever asks, the weakest last. */
const MOST_KEYS = 64;

/** How strong the evidence is that two records are of one company, strongest first; 0: they are not. */
export const LINK = { id: 5, entity: 4, security: 3, ticker: 2, domain: 1, none: 0 } as const;
export type LinkStrength = (typeof LINK)[keyof typeof LINK];

/**
 * The keys under which another source may hold the same company, strongest kind first: `id:apple`, `qid:Q312`,
 * `lei:…`, `figi:…` (share class, composite), `isin:…`, `cusip:…`, `ticker:APC@XETR`, `domain:apple.com`; of a
 * superinvestor `id:…` and `superinvestor:…`. Bounded. Records that `linkBetween` links share one of them at least.
 */
export function identityKeysOf(brand: Brand): string[] {
  return brand.type === BrandType.SUPERINVESTOR
    ? [`id:${brand.id}`, ...managerKeys(brand)].slice(0, MOST_KEYS)
    : companyKeys(brand);
}

/**
 * Whether records of different sources are of one company, and how strong the evidence is (LINK). Symmetric.
 *
 * An identifier of a security that both have is not believed where another of a kind that both have contradicts it
 * (the same FIGI, but no ISIN in common): sources hang identifiers on the wrong company. Then, and wherever the
 * evidence is weaker, the names must agree. Names alone are never enough.
 */
export function linkBetween(a: Brand, b: Brand): LinkStrength {
  if ((a.type === BrandType.SUPERINVESTOR) !== (b.type === BrandType.SUPERINVESTOR)) return LINK.none;
  if (a.id !== '' && a.id === b.id) return LINK.id;
  if (a.type === BrandType.SUPERINVESTOR) return isSameManager(a, b) ? LINK.id : LINK.none;

  const keysOfA = byKind(companyKeys(a));
  const keysOfB = byKind(companyKeys(b));
  const share = (kind: string) => hasCommon(keysOfA.get(kind), keysOfB.get(kind));
  const conflict = (kind: string) => keysOfA.has(kind) && keysOfB.has(kind) && !share(kind);

  if (share('qid') || share('lei')) return LINK.entity;
  const isOtherEntity = conflict('qid') || conflict('lei');
  if (share('isin') || share('figi') || share('cusip')) {
    const contradicted = isOtherEntity || conflict('isin') || conflictingShareClasses(a, b);
    return !contradicted || namesAgree(a, b) ? LINK.security : LINK.none;
  }
  if (isOtherEntity || !(share('ticker') || share('domain')) || !namesAgree(a, b)) return LINK.none;
  return share('ticker') ? LINK.ticker : LINK.domain;
}

/** Whether any name of the one, a former one too, agrees with any of the other's. */
export function namesAgree(a: Brand, b: Brand): boolean {
  return hasCommon(
    new Set(namesOf(a).flatMap(comparableNames)),
    new Set(namesOf(b).flatMap(comparableNames)),
  );
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

/** Normal forms with and without their legal forms, current and former. */
function namesOf(brand: Brand): string[] {
  return keysOfBrand(brand).flatMap(({ kind, key }) => (kind === 'name' ? [key.slice('name:'.length)] : []));
}

function companyKeys(brand: Brand): string[] {
  const isins = identifiers([...brand.listings.map(({ isin }) => isin), brand.stock?.isin]);
  const cusips = identifiers([
    ...brand.listings.map(({ cusip }) => cusip),
    brand.stock?.cusip,
    ...isins.map(cusipOfIsin),
  ]);
  const figis = identifiers([
    ...brand.listings.map(({ shareClassFigi }) => shareClassFigi),
    ...brand.listings.map(({ compositeFigi }) => compositeFigi),
  ]);
  const keys = [
    ...keysOf('id', [brand.id]),
    ...keysOf('qid', identifiers([brand.links?.wikidataQid])),
    ...keysOf('lei', identifiers([brand.lei])),
    ...keysOf('figi', figis),
    ...keysOf('isin', isins),
    ...keysOf('cusip', cusips),
    ...tickerKeys(brand.listings).flatMap(({ key }) => (isBareTickerKey(key) ? [] : [key])),
    ...domainKeys(brand).map(({ key }) => key),
  ];
  return [...new Set(keys)].slice(0, MOST_KEYS);
}

/** A record of several classes of shares conflicts with another only if they have none in common. */
function conflictingShareClasses(a: Brand, b: Brand): boolean {
  const [ofA, ofB] = [a, b].map(
    ({ listings }) => new Set(identifiers(listings.map(({ shareClassFigi }) => shareClassFigi))),
  );
  return (ofA?.size ?? 0) > 0 && (ofB?.size ?? 0) > 0 && !hasCommon(ofA, ofB);
}

/** North American ISINs hold the CUSIP, which other sources may give alone. */
function cusipOfIsin(isin: string): string | undefined {
  return /^(?:US|CA)[A-Z0-9]{10}$/.test(isin) ? isin.slice(2, 11) : undefined;
}

function isSameManager(a: Brand, b: Brand): boolean {
  const firm = normalName(a.manager?.firm ?? '');
  return (
    firm !== '' && firm === normalName(b.manager?.firm ?? '') && normalName(a.name) === normalName(b.name)
  );
}

function managerKeys(brand: Brand): string[] {
  const name = normalName(brand.name);
  return name === '' ? [] : [`superinvestor:${name}`];
}

/** Upper case, each once, without the absent ones. */
function identifiers(values: readonly (string | undefined)[]): string[] {
  return [...new Set(values.map((value) => value?.trim().toUpperCase() ?? ''))].filter(
    (value) => value !== '',
  );
}

function keysOf(kind: string, values: readonly string[]): string[] {
  return values.filter((value) => value !== '').map((value) => `${kind}:${value}`);
}

function byKind(keys: readonly string[]): Map<string, ReadonlySet<string>> {
  const groups = Map.groupBy(keys, (key) => key.slice(0, key.indexOf(':')));
  return new Map([...groups].map(([kind, ofKind]) => [kind, new Set(ofKind)]));
}

function hasCommon(a: ReadonlySet<string> | undefined, b: ReadonlySet<string> | undefined): boolean {
  return a !== undefined && b !== undefined && [...a].some((value) => b.has(value));
}
