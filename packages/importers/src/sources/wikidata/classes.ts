import CLASSES from './classes.json' with { type: 'json' };
import { type Entity, type ItemNumber, itemOf, statementsOf } from './entity.ts';

const GENERAL = new Set<ItemNumber>(Object.values(CLASSES.general));
const BRANDS = new Set<ItemNumber>(Object.values(CLASSES.brands));
const COMPANIES = new Set<ItemNumber>([...GENERAL, ...BRANDS, ...Object.values(CLASSES.trades)]);
/** An item of these classes is never a company, whatever its other classes are. */
const NEVER = new Set<ItemNumber>(Object.values(CLASSES.never));
/** Items of these classes may have listings, industries and legal forms without being companies. */
const NOT_BY_EVIDENCE = new Set<ItemNumber>(Object.values(CLASSES.not_by_evidence));

const PUBLIC_COMPANY = CLASSES.general['public company'];
const PRIVATE_COMPANY = CLASSES.general['privately held company'];
const SUBSIDIARY = CLASSES.general.subsidiary;
export const STOCK_INDEX = CLASSES.not_by_evidence['stock market index'];

/** Properties that only securities have. */
const LISTED = ['P414', 'P946'];
/** An item that has an industry and one of OF_BUSINESSES (legal form, revenue, product) may be a company. */
const INDUSTRY = 'P452';
const OF_BUSINESSES = ['P1454', 'P2139', 'P1056'];

export interface ClassEvidence {
  classes: readonly ItemNumber[];
  has(property: string): boolean;
}

/** Tests cheaply: the result is true for every company, and for some other entities. `classes` may include wrong classes. */
export function mayBeCompany({ classes, has }: ClassEvidence): boolean {
  return (
    classes.some((item) => COMPANIES.has(item)) ||
    LISTED.some(has) ||
    (has(INDUSTRY) && OF_BUSINESSES.some(has))
  );
}

/** Tells whether an entity is a company or a brand, by the rule in README.md. */
export function isCompany({ classes, has }: ClassEvidence): boolean {
  if (classes.some((item) => NEVER.has(item)) || !mayBeCompany({ classes, has })) return false;
  return classes.some((item) => COMPANIES.has(item)) || !classes.some((item) => NOT_BY_EVIDENCE.has(item));
}

export function evidenceOf(entity: Entity): ClassEvidence {
  return { classes: classesOf(entity, 'P31'), has: (property) => statementsOf(entity, property).length > 0 };
}

export function classesOf(entity: Entity, property: string): ItemNumber[] {
  return statementsOf(entity, property).flatMap(({ mainsnak }) => itemOf(mainsnak) ?? []);
}

export function tradeAmong(classes: readonly ItemNumber[]): ItemNumber | undefined {
  return classes.find((item) => !GENERAL.has(item) && !BRANDS.has(item));
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
