import { areDisjoint, type CompanyName, compareNames, isNamedAfter } from '@brand-data/identifiers';
import { subjectOf } from './issuer-names.ts';
import ERRORS from './known-errors.json' with { type: 'json' };
import { MOST_SHARES } from './other-securities.ts';
import { hasIdentifiersOfOther, withoutIsinOfOther } from './own-identifiers.ts';
import { NO_DESCRIPTION, NO_FACTS, NO_IDENTIFIERS, type Row } from './rows.ts';

/** The most letters of a website's label that is inside other names by chance. */
const SHORT_LABEL = 4;
/** Names that the matching put on many rows of others, whose names or tickers have the same letters somewhere. */
const OFTEN_MISPLACED: ReadonlySet<string> = new Set(ERRORS.oftenMisplaced);

/** Websites that the matching put on many rows of others, with the place beside them. */
const MISPLACED_WEBSITES: ReadonlySet<string> = new Set(ERRORS.oftenMisplacedWebsites);

/**
 * Removes the facts that FinanceDatabase's own matching put on the wrong rows of a file. A row without an `issuer` names no company:
 *
 * - If a name is on the shares of more than five tickers of one exchange ("two", "CHS Inc.", "ISHARES"), it identifies no
 *   company, because no company has so many. The issuer is removed.
 * - Descriptions and websites were looked up by parts of names. The facts of RH (rh.com) are on CRH and Whitehaven, and those
 *   of Flex on Enerflex. If one name is inside a word of the other, the facts belong to the company with the shorter name,
 *   unless the website begins with the longer one (harmonicinc.com is on NIC).
 * - We know two websites that are on many rows ("F5 Networks" has the letters of "two"). Only a company with the website's name keeps it.
 * - Some names were looked up in the same way ("TIS" is on Zoetis and Fortis). We know some names that are on many rows. A row keeps
 *   such a name only if the row has an ISIN or its ticker begins with the name.
 * - A website that listings of three or more names have is removed, unless it is named after the row's own name
 *   (brookfield.com).
 * - A name may have come with the identifiers of a company abroad (a subsidiary in Mumbai that is called Siemens AG). If the
 *   description has another name, the row gets it. Then it loses the identifiers, whichever they are.
 */
export function withoutMisattributedFacts(rows: readonly Row[]): Row[] {
  const ambiguous = ambiguousNames(rows);
  const certain = rows.map((row) =>
    ambiguous.has(row.name) || isNameDoubtful(row) ? { ...row, issuer: undefined } : row,
  );
  const described = certain.map(withoutFactsOfOthers(certain));
  return described
    .map(withoutSharedWebsite(certain))
    .map(withDescribedName)
    .map(withoutIsinOfOther(described));
}

function ambiguousNames(rows: readonly Row[]): ReadonlySet<string> {
  const byPlace = Map.groupBy(rows, ({ name, mic }) => `${mic} ${name}`);
  const tooMany = [...byPlace.values()].filter(
    (group) => new Set(group.map(({ ticker }) => ticker.split('-', 1)[0])).size > MOST_SHARES,
  );
  return new Set(tooMany.flatMap(([first]) => first?.name || []));
}

function isNameDoubtful({ name, issuer, isin, ticker }: Row): boolean {
  return OFTEN_MISPLACED.has(name) && isin === '' && !ticker.toLowerCase().startsWith(issuer?.words[0] ?? '');
}

function withoutFactsOfOthers(rows: readonly Row[]): (row: Row) => Row {
  const byDomain = Map.groupBy(rows, ({ domain }) => domain);
  return (row) => {
    const { issuer, subject, domain } = row;
    if (issuer === undefined) return row;
    if (isInsideWords(subject, issuer) || isLabelInside(domain, issuer)) return withoutFacts(row);
    if (MISPLACED_WEBSITES.has(domain))
      return issuer.words.join('') === domain.split('.', 1)[0] ? row : withoutFacts(row);
    if (domain === '' || beginsWith(domain, issuer)) return row;
    const isOthers = (byDomain.get(domain) ?? []).some((other) => {
      const isOfLongerName =
        other.issuer !== undefined && isInsideWords(issuer, other.issuer) && beginsWith(domain, other.issuer);
      return isInsideWords(other.issuer ?? other.subject, issuer) || isOfLongerName;
    });
    return isOthers ? withoutFacts(row) : row;
  };
}

/** Tells whether a short website is inside a word of the name by chance: flex.com on "Enerflex". */
function isLabelInside(domain: string, { words }: CompanyName): boolean {
  const label = domain.split('.', 1)[0] ?? '';
  const isShort = label.length >= 2 && label.length <= SHORT_LABEL;
  return (
    isShort && words.some((word) => word.indexOf(label) > 0) && !words.some((word) => word.startsWith(label))
  );
}

function isInsideWords(part: CompanyName | undefined, name: CompanyName): boolean {
  if (part === undefined) return false;
  const [letters, all] = [part.words.join(''), name.words.join('')];
  if (letters.length < 2 || letters.length >= all.length || !all.includes(letters)) return false;
  return compareNames(part, name) === 'other' && !hasWords(name.words, part.words);
}

/** Tells whether `words` begin with `part`, or contain it anywhere if it has two or more words. */
function hasWords(words: readonly string[], part: readonly string[]): boolean {
  const at = ` ${words.join(' ')} `.indexOf(` ${part.join(' ')} `);
  return at === 0 || (at > 0 && part.length > 1);
}

function withoutFacts(row: Row): Row {
  const isOwnSubject =
    row.subject !== undefined &&
    row.issuer !== undefined &&
    compareNames(row.subject, row.issuer) !== 'other';
  return { ...row, ...(isOwnSubject ? {} : NO_DESCRIPTION), ...NO_FACTS };
}

function withoutSharedWebsite(rows: readonly Row[]): (row: Row) => Row {
  const shared = new Set(
    [...Map.groupBy(rows, ({ domain }) => domain)].flatMap(([domain, group]) =>
      domain !== '' && countDifferent(group) >= 3 ? [domain] : [],
    ),
  );
  return (row) =>
    shared.has(row.domain) && !isNamedAfter(row.domain, row.issuer)
      ? { ...row, website: '', domain: '' }
      : row;
}

function countDifferent(rows: readonly Row[]): number {
  const names: CompanyName[] = [];
  for (const { issuer } of rows) {
    if (issuer !== undefined && !names.some((name) => compareNames(name, issuer) !== 'other'))
      names.push(issuer);
  }
  return names.length;
}

function withDescribedName(row: Row): Row {
  const { issuer, subject } = row;
  if (issuer === undefined || subject === undefined || !hasIdentifiersOfOther(row)) return row;
  const isSame =
    compareNames(issuer, subject) !== 'other' &&
    !areDisjoint(new Set(issuer.legalFamilies), new Set(subject.legalFamilies));
  return isSame ? row : { ...row, ...NO_IDENTIFIERS, name: subjectOf(row.summary), issuer: subject };
}

/** Tells whether the domain begins with the name's first word: nostrumoilandgas.com with "Nostrum Oil & Gas". */
function beginsWith(domain: string, { words: [first = ''] }: CompanyName): boolean {
  return first.length >= 4 && domain.replaceAll('-', '').startsWith(first);
}
