import { contradictionsBetween } from '@brand-data/identifiers';
import { append } from '../records/append.ts';
import { statesListings } from '../records/precedence.ts';
import type { SourceRecord } from '../records/source-record.ts';

/**
 * If more source records than this have a name in a country, no link rests on the name. This keeps the records with one name,
 * which must be planned together, few.
 */
export const MOST_OF_ONE_NAME = 16;

/** A company has more listings than that in no source that has one record for each listing. */
export const MOST_LISTINGS_OF_ONE_NAME = 128;

const NAME_KEY = 'named:';
/** Ends the key of a listing's name, which only listings of one source share. */
const ANYWHERE = '@*';

/** Returns the keys of a record's name in its country: "named:apple@US". */
export function nameKeysOf({ identity }: SourceRecord): readonly string[] {
  return identity.keys.filter((key) => key.startsWith(NAME_KEY));
}

/** Checks whether so many records have one name in a country that no link rests on the name. */
export function isCommonName(records: readonly SourceRecord[]): boolean {
  if (records.length <= MOST_OF_ONE_NAME) return false;
  const listings = records.filter(({ source }) => statesListings(source)).length;
  return listings > MOST_LISTINGS_OF_ONE_NAME || records.length - listings > MOST_OF_ONE_NAME;
}

/**
 * Says of two records whether they share a name in a country that no other record of their two sources has. If a source has one
 * record for each listing, its records with the name must not contradict one another.
 *
 * @param records all records that have one of these names, except names in `commonNames`
 */
export function namesOfOneRecord(
  records: readonly SourceRecord[],
  commonNames?: ReadonlySet<string>,
): (a: SourceRecord, b: SourceRecord) => boolean {
  const holders = new Map<string, SourceRecord[]>();
  const known = new Map<string, boolean>();
  const isUnique = (key: string, record: SourceRecord, marks: CommonMarks) => {
    const name = JSON.stringify([key, record.source, marks]);
    const isOne =
      known.get(name) ??
      areOfOneCompany(
        (holders.get(key) ?? []).filter(({ source }) => source === record.source),
        marks,
      );
    known.set(name, isOne);
    return isOne;
  };
  return (a, b) => {
    if (holders.size === 0)
      for (const record of records) for (const key of nameKeysOf(record)) append(holders, key, record);
    const areListings = a.source === b.source;
    const marks = areListings ? commonMarksOf(a, b) : [];
    return nameKeysOf(a).some(
      (key) =>
        areListings === key.endsWith(ANYWHERE) &&
        b.identity.keys.includes(key) &&
        commonNames?.has(key) !== true &&
        !isCommonName(holders.get(key) ?? []) &&
        isUnique(key, a, marks) &&
        isUnique(key, b, marks),
    );
  };
}

/** What tells the names of one record from those of a namesake: the families of legal forms, and "Group" and the like. */
const MARKS: readonly ((record: SourceRecord) => readonly string[])[] = [
  ({ identity }) => [...identity.names().legalFamilies],
  ({ identity }) => identity.names().currentNames.map(({ collective }) => collective),
];
/** For each of MARKS the values that two records have in common, in order. */
type CommonMarks = readonly (readonly string[])[];

function commonMarksOf(a: SourceRecord, b: SourceRecord): CommonMarks {
  return MARKS.map((valuesOf) => {
    const ofB = valuesOf(b);
    return valuesOf(a)
      .filter((value) => ofB.includes(value))
      .toSorted();
  });
}

/**
 * Checks whether the records of one source that share a name are one company's: there is only one, or each is one listing and none
 * contradicts another. Listings that have none of the common marks do not count, because they are those of a namesake.
 */
function areOfOneCompany(records: readonly SourceRecord[], marks: CommonMarks): boolean {
  const [first] = records;
  if (first === undefined || !statesListings(first.source)) return records.length <= 1;
  const namesakes = records.filter((record) =>
    marks.every(
      (common, index) =>
        common.length === 0 || MARKS[index]?.(record).some((value) => common.includes(value)) === true,
    ),
  );
  return !namesakes.some((one, index) =>
    namesakes
      .slice(index + 1)
      .some((other) => contradictionsBetween(one.identity, other.identity).length > 0),
  );
}
