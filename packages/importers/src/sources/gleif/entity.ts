import { isLei } from '@brand-data/identifiers';
import { isBlankName, isLatin, withPlainSpaces } from '../../formats/texts.ts';
import { type Cells, itemsOf } from './cells.ts';
import { headquartersOf } from './headquarters.ts';

/** What is kept of an entity until all files are read. */
export type EntityFacts = Extract<ReturnType<typeof entityOf>, { lei: string }>;

const COMPANY = 'GENERAL';
/** What an LEI's registration is if nobody should use the LEI. */
const UNUSED: ReadonlySet<string> = new Set(['DUPLICATE', 'ANNULLED', 'CANCELLED']);
const OTHER_NAMES = 'Entity.OtherEntityNames.OtherEntityName';
const TRANSLITERATED_NAMES = 'Entity.TransliteratedOtherEntityNames.TransliteratedOtherEntityName';
const SUCCESSORS = 'Entity.SuccessorEntity';
/** Scripts that write vowels, so that people can read what a program has transliterated. */
const WITH_VOWELS = /^[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Latin}\P{L}]*$/u;

/** Reads an entity. Returns why it is no company, or why it cannot be read. */
export function entityOf(from: string, cells: Cells) {
  const cell = (name: string) => withPlainSpaces(cells.get(name) ?? '');
  const [lei, legalName] = [cell('LEI'), cell('Entity.LegalName')];
  const why = whyNone(lei, legalName, cell);
  if (why !== undefined) return why;
  const { current, former, latin } = namesOf(legalName, cells);
  return {
    from,
    lei,
    /** In Latin letters if the entity states such a name. */
    name: latin,
    names: [...new Set([legalName, ...current])].filter((name) => name !== latin),
    formerly: [...new Set(former)].filter((name) => name !== legalName && !current.includes(name)),
    headquarters: headquartersOf(cells),
    isActive: cell('Entity.EntityStatus') !== 'INACTIVE',
    /** The day on which it ceased to be. '' if that is unknown. */
    ended: cell('Entity.EntityExpirationDate').slice(0, 10),
    /** An LEI or a name of each. */
    successors: [...itemsOf(cells, SUCCESSORS, ['.SuccessorLEI', '.SuccessorEntityName'])].map(
      (item) => cell(`${item}.SuccessorLEI`) || cell(`${item}.SuccessorEntityName`),
    ),
    /** The day of the last change. */
    date: cell('Registration.LastUpdateDate').slice(0, 10),
  };
}

function whyNone(
  lei: string,
  legalName: string,
  cell: (name: string) => string,
): { skipped: string } | { problem: string } | undefined {
  const category = cell('Entity.EntityCategory');
  const registration = cell('Registration.RegistrationStatus');
  if (!isLei(lei)) return { problem: `"${lei.slice(0, 30)}" is no LEI` };
  if (isBlankName(legalName)) return { problem: 'the entity has no legal name' };
  if (category !== '' && category !== COMPANY)
    return { skipped: `it is no company: its category is "${category}"` };
  if (UNUSED.has(registration))
    return { skipped: `its LEI is not in use: its registration is "${registration}"` };
  return undefined;
}

/**
 * Returns the names beside the legal one, and the legal name in Latin letters: as the entity writes it in another language, else as
 * it or a program has transliterated it. A transliteration by a program that leaves out vowels, or of a Chinese name, is no name.
 */
function namesOf(legalName: string, cells: Cells): { current: string[]; former: string[]; latin: string } {
  const isEnglish = (item: string) => /^en/i.test(cells.get(`${item}.xmllang`) ?? '');
  const namesIn = (list: string, type: RegExp) =>
    [...itemsOf(cells, list)]
      .filter((item) => type.test(cells.get(`${item}.type`) ?? ''))
      .sort((a, b) => Number(isEnglish(b)) - Number(isEnglish(a)))
      .map((item) => withPlainSpaces(cells.get(item) ?? ''))
      .filter((name) => !isBlankName(name));
  const inOtherLanguages = namesIn(OTHER_NAMES, /^ALTERNATIVE/);
  const transliterated = [
    ...namesIn(TRANSLITERATED_NAMES, /^PREFERRED/),
    ...(WITH_VOWELS.test(legalName) ? namesIn(TRANSLITERATED_NAMES, /^AUTO/) : []),
  ];
  const [latin = legalName] = isLatin(legalName)
    ? []
    : [...inOtherLanguages, ...transliterated].filter((name) => isLatin(name));
  const current = [
    ...namesIn(OTHER_NAMES, /^TRADING/),
    ...inOtherLanguages,
    ...(isLatin(legalName) ? [] : transliterated),
  ];
  return { current, former: namesIn(OTHER_NAMES, /^PREVIOUS/), latin };
}
