import type { SourceRecord } from '../records/source-record.ts';

/**
 * If more source records than this have a name in a country, no link rests on the name. This keeps the records with one name,
 * which must be planned together, few.
 */
export const MOST_OF_ONE_NAME = 16;

const NAME_KEY = 'named:';

/** Returns the keys of a record's name in its country: "named:apple@US". */
export function nameKeysOf({ identity }: SourceRecord): readonly string[] {
  return identity.keys.filter((key) => key.startsWith(NAME_KEY));
}

/**
 * Says of two records whether they share a name in a country that no other record of their two sources has.
 *
 * @param records all records that have one of these names, except names in `commonNames`
 */
export function namesOfOneRecord(
  records: readonly SourceRecord[],
  commonNames?: ReadonlySet<string>,
): (a: SourceRecord, b: SourceRecord) => boolean {
  const inSource = (key: string, { source }: SourceRecord) => `${key} ${source}`;
  let counts: ReadonlyMap<string, number> | undefined;
  return (a, b) => {
    counts ??= countsOf(
      records.flatMap((record) => nameKeysOf(record).flatMap((key) => [key, inSource(key, record)])),
    );
    const countOf = (key: string) => counts?.get(key) ?? 0;
    return nameKeysOf(a).some(
      (key) =>
        b.identity.keys.includes(key) &&
        commonNames?.has(key) !== true &&
        countOf(key) <= MOST_OF_ONE_NAME &&
        countOf(inSource(key, a)) === 1 &&
        countOf(inSource(key, b)) === 1,
    );
  };
}

function countsOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
