import { type Brand, BrandType } from '@brand-data/contracts';

/** The most characters of a name, an alias or a person's name, counted in Unicode's compatibility form (NFKC). */
export const LONGEST_NAME = 512;
/** The most names, current and former, by which a record is found and compared. */
const MOST_NAMES = 100;
/** The most characters of all these names together. Names beyond it find nothing, so that no record is slow to look up. */
const MOST_CHARACTERS = 4_096;
/** A character becomes at most so many in the compatibility form: U+FDFA becomes 18. */
const MOST_EXPANSION = 18;
const ASCII = /^[\x20-\x7e]*$/;

export interface NamesOfBrand {
  /** The displayed name first. */
  readonly current: readonly string[];
  /** With the years of their use, where the record states them. */
  readonly former: readonly string[];
}

/** Checks whether the catalogue refuses the text as a name. */
export function isTooLongForName(text: string): boolean {
  if (text.length * MOST_EXPANSION <= LONGEST_NAME) return false;
  return text.length > LONGEST_NAME || (!ASCII.test(text) && text.normalize('NFKC').length > LONGEST_NAME);
}

/**
 * Returns the names of a company, or those of a superinvestor and its firm, in the order of the record. Leaves out a name that is
 * too long, which catalogues of earlier versions may hold, and all names after the first 100 or the first 4,096 characters.
 */
export function namesOfBrand({ type, name, names, history, manager }: Brand): NamesOfBrand {
  const isManager = type === BrandType.SUPERINVESTOR;
  const further = isManager ? [manager?.portfolioManager ?? '', manager?.firm ?? ''] : [];
  const within = budget();
  const current = [name, ...further, ...names].filter(within);
  return { current, former: isManager ? [] : (history?.formerly ?? []).filter(within) };
}

/** Tells of one name after another whether it is among the first ones. */
function budget(): (name: string) => boolean {
  let namesLeft = MOST_NAMES;
  let charactersLeft = MOST_CHARACTERS;
  return (name) => {
    if (namesLeft <= 0 || charactersLeft <= 0 || isTooLongForName(name)) return false;
    namesLeft -= 1;
    charactersLeft -= ASCII.test(name) ? name.length : name.normalize('NFKC').length;
    return charactersLeft >= 0;
  };
}

/** Removes the years of use, which records add to a former name: "Daimler AG (2007–2022)". */
export function withoutYears(former: string): string {
  const text = former.trimEnd();
  if (!/[)）]$/.test(text)) return former;
  const inner = text.slice(0, -1);
  const open = Math.max(inner.lastIndexOf('('), inner.lastIndexOf('（'));
  const years = inner.slice(open + 1);
  return open >= 0 && /\d{4}/.test(years) && !/[)）]/.test(years) ? text.slice(0, open).trimEnd() : former;
}
