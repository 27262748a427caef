import { compareLegalFamilies, legalFamiliesOf } from '@brand-data/identifiers/src/names/legal-families.ts';
import { isCommonAsTicker } from '@brand-data/identifiers/src/resolve/common-words.ts';
import type { Random } from '@brand-data/testing/random';
import { absentCompanyAt, type Company, companyAt, LISTED_EVERY } from './company.ts';
import { zipfRank } from './zipf.ts';

/** The kinds of identifiers that callers send. */
export const KINDS = [
  'ticker',
  'ticker with exchange',
  'domain',
  'name',
  'name, other legal form',
  'ISIN',
] as const;
export type Kind = (typeof KINDS)[number];

/** An identifier and the company that has it. */
export interface Asked {
  readonly identifier: string;
  /**
   * The id of the only company that has the identifier. undefined: several companies may have it, and each is a right answer.
   */
  readonly id: string | undefined;
  /**
   * Whether finding no company is also right: a better-known company of the same name may have a legal form that contradicts the
   * identifier's.
   */
  readonly mayMiss?: boolean;
}

/**
 * Returns an identifier from a catalogue of `size` companies. The company of rank n is chosen 1 / n as often as the first (Zipf's
 * law).
 */
export function askFor(kind: Kind, size: number, random: Random): Asked {
  return asked(kind, companyAt(drawn(kind, size, random)));
}

/** Returns an identifier of the same form, of a company that no catalogue contains. */
export function askInVain(kind: Kind, size: number, random: Random): Asked {
  return asked(kind, absentCompanyAt(drawn(kind, size, random)));
}

function drawn(kind: Kind, size: number, random: Random): number {
  if (kind === 'name, other legal form') {
    const index = zipfRank(size, random.unit());
    return otherFormOf(companyAt(index)) === undefined ? drawn(kind, size, random) : index;
  }
  const ofListed = kind === 'ISIN' || kind.startsWith('ticker');
  if (!ofListed) return zipfRank(size, random.unit());
  const index = zipfRank(Math.ceil(size / LISTED_EVERY), random.unit()) * LISTED_EVERY;
  if (kind !== 'ticker') return index;
  const ticker = companyAt(index).listings[0]?.ticker ?? '';
  // A common word does not count as the ticker of a company that is little known.
  return isCommonAsTicker(ticker) ? drawn(kind, size, random) : index;
}

/**
 * Returns a legal form that the company does not have, but that callers may use for it: "Limited" for an S.A., but not "GmbH" for
 * an AG. undefined: there is none.
 */
function otherFormOf({ legalName, home }: Company): string | undefined {
  const own = legalFamiliesOf(legalName);
  return [...home.legalForms, 'Limited'].find((form) => {
    const families = legalFamiliesOf(`X ${form}`);
    return !legalName.endsWith(` ${form}`) && compareLegalFamilies(families, own) === 'compatible';
  });
}

function asked(kind: Kind, company: Company): Asked {
  const { id, name, domain, isin = '', listings, home } = company;
  const [main] = listings;
  switch (kind) {
    case 'ticker':
      return { identifier: main?.ticker ?? '', id: undefined };
    case 'ticker with exchange': {
      const { ticker, venue } = listings.at(-1) ?? { ticker: '', venue: home.venue };
      return { identifier: venue.suffix === '' ? `NASDAQ:${ticker}` : `${ticker}.${venue.suffix}`, id };
    }
    case 'domain':
      return { identifier: domain, id };
    case 'name':
      return { identifier: name, id: undefined };
    case 'name, other legal form':
      return { identifier: `${name} ${otherFormOf(company) ?? 'Limited'}`, id: undefined, mayMiss: true };
    case 'ISIN':
      return { identifier: isin, id };
  }
}
