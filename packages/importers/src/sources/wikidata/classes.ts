import { type Entity, type ItemNumber, itemOf, statementsOf } from './entity.ts';

/** Classes of companies of any trade. */
const GENERAL: readonly ItemNumber[] = [
  4830453, // business
  6881511, // enterprise
  783794, // company
  891723, // public company
  1589009, // privately held company
  167037, // corporation
  5225895, // public limited company
  658255, // subsidiary
  161726, // multinational corporation
  778575, // conglomerate
  219577, // holding company
  270791, // state-owned enterprise
  4539, // cooperative
  13235160, // manufacturer
];

const BRANDS: readonly ItemNumber[] = [
  431289, // brand
  167270, // trademark
  10429667, // car brand
  15075508, // beer brand
  16323605, // food brand
  55315112, // cosmetics brand
  133459332, // clothing brand
  135409642, // luxury brand
  19967801, // online service
  1668024, // service on the Internet
  3220391, // social networking service
];

const TRADES: readonly ItemNumber[] = [
  18388277, // technology company
  1058914, // software company
  210167, // video game developer
  1137109, // video game publisher
  2401749, // telecommunications company
  1331793, // media company
  15265344, // broadcaster
  2085381, // publisher
  1320047, // book publisher
  18127, // record label
  1762059, // film production company
  375336, // film studio
  1107679, // animation studio
  10689397, // television production company
  22687, // bank
  319845, // investment bank
  650241, // financial institution
  2143354, // insurance company
  507619, // retail chain
  18043413, // supermarket chain
  76213979, // convenience store chain
  18534542, // restaurant chain
  18509232, // fast food restaurant chain
  76212517, // café chain
  63869263, // bakery chain
  7257246, // pub chain
  131734, // brewery
  786820, // automobile manufacturer
  936518, // aerospace manufacturer
  46970, // airline
  740752, // transport company
  249556, // railway company
  217107, // travel agency
  19644607, // pharmaceutical company
  90298876, // biotechnology company
  63383584, // medical device company
  1341478, // energy company
  14941854, // oil company
  1326624, // electric utility
  2990216, // mining company
  2089936, // consulting company
  613142, // law firm
];

/** An item of these classes is never a company, whatever its other classes are. */
const NEVER: ReadonlySet<ItemNumber> = new Set([
  5, // human
  15632617, // fictional human
  4167410, // disambiguation page
  4167836, // category
  11266439, // template
  13406463, // list
  6256, // country
  3624078, // sovereign state
  515, // city
  486972, // human settlement
  10929058, // product model
  3231690, // car model
]);

/**
 * Items of these classes may have listings, industries and legal forms too. Therefore these properties do not show that an item
 * of one of these classes is a company.
 */
const NOT_BY_EVIDENCE: ReadonlySet<ItemNumber> = new Set([
  3918, // university
  875538, // public university
  902104, // private university
  3914, // school
  9826, // high school
  16917, // hospital
  33506, // museum
  41176, // building
  7278, // political party
  327333, // government agency
  2659904, // government organization
  163740, // nonprofit organization
  708676, // charitable organization
  79913, // non-governmental organization
  157031, // foundation
  484652, // international organization
  178790, // labor union
  847017, // sports club
  476028, // association football club
  12973014, // sports team
  845477, // exchange-traded fund
  223371, // stock market index
  7397, // software
  7889, // video game
  11424, // film
  5398426, // television series
]);

const PUBLIC_COMPANY = 891723;
const PRIVATE_COMPANY = 1589009;
const SUBSIDIARY = 658255;
export const STOCK_INDEX = 223371;

const general = new Set(GENERAL);
const brands = new Set(BRANDS);
const companies = new Set([...GENERAL, ...BRANDS, ...TRADES]);

/** Properties that only securities have. */
const LISTED = ['P414', 'P946'];
/** An item that has an industry and one of OF_BUSINESSES (legal form, revenue, product) may be a company. */
const INDUSTRY = 'P452';
const OF_BUSINESSES = ['P1454', 'P2139', 'P1056'];

/** The evidence of what an entity is: its classes, and which properties it has. */
export interface ClassEvidence {
  classes: readonly ItemNumber[];
  has(property: string): boolean;
}

/** Tests cheaply: the result is true for every company, and for some other entities. `classes` may include wrong classes. */
export function mayBeCompany({ classes, has }: ClassEvidence): boolean {
  return (
    classes.some((item) => companies.has(item)) ||
    LISTED.some(has) ||
    (has(INDUSTRY) && OF_BUSINESSES.some(has))
  );
}

/**
 * Tells whether an entity is a company or a brand. It must be of one of the listed classes, or have properties that usually only
 * businesses have and be of no class in NOT_BY_EVIDENCE. Entities of a class in NEVER, such as people and places, are neither.
 */
export function isCompany({ classes, has }: ClassEvidence): boolean {
  if (classes.some((item) => NEVER.has(item)) || !mayBeCompany({ classes, has })) return false;
  return classes.some((item) => companies.has(item)) || !classes.some((item) => NOT_BY_EVIDENCE.has(item));
}

export function evidenceOf(entity: Entity): ClassEvidence {
  return {
    classes: classesOf(entity, 'P31'),
    has: (property) => statementsOf(entity, property).length > 0,
  };
}

export function classesOf(entity: Entity, property: string): ItemNumber[] {
  return statementsOf(entity, property).flatMap(({ mainsnak }) => itemOf(mainsnak) ?? []);
}

/** Returns the class that names the company's trade. */
export function tradeAmong(classes: readonly ItemNumber[]): ItemNumber | undefined {
  return classes.find((item) => !general.has(item) && !brands.has(item)) ?? undefined;
}

/** Returns the kinds of company that an item's classes, its listings and its parents show. */
export function companyTypesOf(
  classes: readonly ItemNumber[],
  { isListed, hasParent }: { isListed: boolean; hasParent: boolean },
): string[] {
  const isPublic = isListed || classes.includes(PUBLIC_COMPANY);
  return [
    ...(isPublic ? ['Public'] : []),
    ...(!isPublic && classes.includes(PRIVATE_COMPANY) ? ['Private'] : []),
    ...(hasParent || classes.includes(SUBSIDIARY) ? ['Subsidiary'] : []),
  ];
}
