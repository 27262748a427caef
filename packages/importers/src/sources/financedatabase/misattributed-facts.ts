import { type CompanyName, compareNames, exchangeOfMic, isNamedAfter } from '@brand-data/identifiers';
import { countryCodeOf } from '../../formats/places.ts';
import { isProduct, subjectOf } from './issuer-names.ts';
import { MOST_SHARES } from './other-securities.ts';
import { FIT, fitOf, haveOneIdentifier } from './row-evidence.ts';
import {
  grouped,
  haveGermanTicker,
  identifiersOf,
  isGerman,
  NO_DESCRIPTION,
  NO_FACTS,
  NO_IDENTIFIERS,
  type Row,
  sureIdentifiersOf,
} from './rows.ts';

/**
 * Removes the facts that FinanceDatabase's own matching put on the wrong rows:
 *
 * - If a name is on the shares of more than five tickers of one exchange ("two", "CHS Inc.", "ISHARES"), it identifies no
 *   company, because no company has so many. The name and the facts that came with it are removed.
 * - Descriptions and websites were looked up by parts of names. The facts of RH (rh.com) are on CRH and Whitehaven, and those
 *   of Flex on Enerflex. If one name is inside a word of the other, the facts belong to the company with the shorter name,
 *   unless the website begins with the longer one (harmonicinc.com is on NIC).
 * - Some names were looked up in the same way: "Pool" is on a listing of Whirlpool. If most listings with the same identifier,
 *   or with the same German ticker, have the longer name, the row gets the longer name.
 * - A name of at most three letters that is inside other names ("TIS" in Zoetis and Fortis) is doubtful. It stays in three
 *   cases: the ticker begins with it, the row has identifiers that no listing with another name has, or another German
 *   listing with the ticker has another spelling of the name.
 * - A website that listings of three or more names have is removed, unless it is named after the row's own name
 *   (brookfield.com).
 * - A name may have come with a wrong identifier. Then the description and the website belong to another company, and other
 *   rows with the name are in another country. The row gets the name in the description and loses the identifiers.
 * - A row at home in one country may have the name of a company in another one, with its identifiers or website (a subsidiary in
 *   Mumbai that is called Sanofi). It gets the name in its description, if that is another one, else none.
 */
export function withoutMisattributedFacts(rows: readonly Row[]): Row[] {
  const ambiguous = ambiguousNames(rows);
  const named = rows.map((row) => (ambiguous.has(row.name) ? { ...row, issuer: undefined } : row));
  const identified = named.map(withIdentifiersName(named));
  const certain = identified.map(withoutDoubtfulName(identified));
  const described = certain.map(withoutFactsOfOthers(identified));
  const located = described.map(withoutSharedWebsite(described));
  return located
    .map(withOwnName(located))
    .map((row) => (row.issuer === undefined && row.name !== '' ? withoutFacts(row) : row));
}

function ambiguousNames(rows: readonly Row[]): ReadonlySet<string> {
  const byPlace = Map.groupBy(rows, ({ name, mic }) => `${mic} ${name}`);
  const tooMany = [...byPlace.values()].filter(
    (group) => new Set(group.map(({ ticker }) => ticker.split('-', 1)[0])).size > MOST_SHARES,
  );
  return new Set(
    tooMany.flatMap(([first]) => (first === undefined || first.name === '' ? [] : [first.name])),
  );
}

function withIdentifiersName(rows: readonly Row[]): (row: Row) => Row {
  const holders = grouped(rows, identifiersOf);
  const inGermany = grouped(rows.filter(isGerman), ({ ticker }) => [ticker]);
  return (row) => {
    const { issuer } = row;
    if (issuer === undefined) return row;
    const others = [
      ...identifiersOf(row).flatMap((identifier) => holders.get(identifier) ?? []),
      ...(isGerman(row) ? (inGermany.get(row.ticker) ?? []) : []),
    ];
    const longer = others.filter(
      (other) => other.issuer !== undefined && isInsideWords(issuer, other.issuer),
    );
    const alike = others.filter(
      (other) => other.issuer !== undefined && compareNames(issuer, other.issuer) !== 'other',
    );
    const [theirs] = longer;
    if (theirs === undefined) return row;
    const isTheirs = longer.length > alike.length || longer.some((other) => haveGermanTicker(row, other));
    return isTheirs ? { ...withoutFacts({ ...row, issuer: theirs.issuer }), name: theirs.name } : row;
  };
}

function withoutDoubtfulName(rows: readonly Row[]): (row: Row) => Row {
  const byDomain = Map.groupBy(rows, ({ domain }) => domain);
  const holders = grouped(rows, sureIdentifiersOf);
  const inGermany = grouped(rows.filter(isGerman), ({ ticker }) => [ticker]);
  return (row) => {
    const { issuer, domain, ticker } = row;
    const letters = issuer?.words.join('') ?? '';
    if (issuer === undefined || domain === '' || letters.length > 3) return row;
    const isPart = (byDomain.get(domain) ?? []).some(
      (other) => other.issuer !== undefined && isInsideWords(issuer, other.issuer),
    );
    if (!isPart || ticker.toLowerCase().startsWith(letters)) return row;
    const identifiers = sureIdentifiersOf(row);
    const isSpelledOtherwise = (inGermany.get(ticker) ?? []).some(
      (other) =>
        haveGermanTicker(row, other) &&
        other.name !== row.name &&
        other.issuer !== undefined &&
        compareNames(issuer, other.issuer) !== 'other',
    );
    if (isSpelledOtherwise) return row;
    const isSure =
      identifiers.length > 0 &&
      identifiers
        .flatMap((identifier) => holders.get(identifier) ?? [])
        .every((other) => other.issuer === undefined || compareNames(issuer, other.issuer) !== 'other');
    return isSure ? row : { ...row, issuer: undefined };
  };
}

function withoutFactsOfOthers(rows: readonly Row[]): (row: Row) => Row {
  const byDomain = Map.groupBy(rows, ({ domain }) => domain);
  return (row) => {
    const { issuer, subject, domain } = row;
    if (issuer === undefined) return row;
    if (isProduct(row.name)) return isNamedAfter(domain, issuer) ? row : withoutFacts(row);
    if (isInsideWords(subject, issuer)) return withoutFacts(row);
    if (domain === '' || beginsWith(domain, issuer)) return row;
    const isOthers = (byDomain.get(domain) ?? []).some((other) => {
      const name = nameOnRow(other);
      const isOfLongerName =
        other.issuer !== undefined && isInsideWords(issuer, other.issuer) && beginsWith(domain, other.issuer);
      return isInsideWords(name, issuer) || isOfLongerName;
    });
    return isOthers ? withoutFacts(row) : row;
  };
}

/** Returns the name of a row, or else the name in its description. */
function nameOnRow({ issuer, subject }: Row): CompanyName | undefined {
  return issuer ?? subject;
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

function withOwnName(rows: readonly Row[]): (row: Row) => Row {
  const byName = Map.groupBy(rows, ({ issuer }) => issuer?.forms[0]);
  return (row) => {
    const { issuer, subject, domain } = row;
    if (issuer === undefined) return row;
    const namesakes = byName.get(issuer.forms[0]) ?? [];
    const isDescribedOtherwise =
      subject !== undefined &&
      (compareNames(issuer, subject) === 'other' || areDisjoint(issuer.legalFamilies, subject.legalFamilies));
    const described = () => ({
      ...row,
      ...NO_IDENTIFIERS,
      name: subjectOf(row.summary),
      issuer: subject,
    });
    if (isOfCompanyAbroad(row, namesakes))
      return isDescribedOtherwise ? described() : { ...row, ...NO_IDENTIFIERS, issuer: undefined };
    if (subject === undefined || compareNames(issuer, subject) !== 'other') return row;
    if (domain === '' || (beginsWith(domain, issuer) && !isNamedInFull(domain, subject))) return row;
    const abroad = namesakes.filter(
      (other) =>
        other.country !== '' &&
        row.country !== '' &&
        other.country !== row.country &&
        other.domain !== domain,
    );
    const isMisattributed = beginsWith(domain, subject) || abroad.some((other) => other.domain !== '');
    return abroad.length > 0 && isMisattributed ? described() : row;
  };
}

/**
 * Tells whether the row, at home in its country, has the name and an identifier or the website of a company in another country. The
 * ISIN is of another country, or several listings are there, and no listing with the name shows that the company is also here.
 */
function isOfCompanyAbroad(row: Row, namesakes: readonly Row[]): boolean {
  const country = countryCodeOf(row.country);
  if (row.city === '' || country === undefined || country !== exchangeOfMic(row.mic)?.country) return false;
  const abroad = namesakes.filter(
    (other) => other !== row && other.city !== '' && fitOf(row, other) !== FIT.none,
  );
  if (abroad.some((other) => other.country === row.country || other.mic === row.mic)) return false;
  const isForeign = row.isin === '' ? abroad.length > 1 : !row.isin.startsWith(country);
  return (
    isForeign &&
    abroad.some(
      (other) => haveOneIdentifier(row, other) || (row.domain !== '' && row.domain === other.domain),
    )
  );
}

/** Tells whether the domain begins with the whole name: sumogroupplc.com with "Sumo Group", not with "Sumo Logic". */
function isNamedInFull(domain: string, { words }: CompanyName): boolean {
  return words.length > 1 && domain.replaceAll('-', '').startsWith(words.join(''));
}

/** Tells whether the domain begins with the name's first word: nostrumoilandgas.com with "Nostrum Oil & Gas". */
function beginsWith(domain: string, { words: [first = ''] }: CompanyName): boolean {
  return first.length >= 4 && domain.replaceAll('-', '').startsWith(first);
}

function areDisjoint(some: readonly string[], others: readonly string[]): boolean {
  return some.length > 0 && others.length > 0 && !some.some((one) => others.includes(one));
}
