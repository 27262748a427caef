/**
 * An entity as Wikibase writes it to JSON. Any part may be absent or have a wrong type, so all parts are `unknown`. A part
 * with a wrong type is treated as absent. Wikibase may write an empty map as an empty list.
 */
export interface Entity {
  id: string;
  labels?: unknown;
  descriptions?: unknown;
  aliases?: unknown;
  claims?: unknown;
  sitelinks?: unknown;
  modified?: unknown;
}

export interface Snak {
  snaktype?: unknown;
  datavalue?: { value?: unknown } | null;
}

export interface Statement {
  mainsnak?: Snak;
  rank?: unknown;
  qualifiers?: unknown;
}

export type WikiTime = NonNullable<ReturnType<typeof timeOf>>;

/** The number of an item: 312 of "Q312". */
export type ItemNumber = number;

/** About twice the highest number of 2026. A set of items takes one bit for each possible number. */
const MAX_ITEM_NUMBER = 2 ** 28 - 1;

export function itemNumber(id: unknown): ItemNumber | undefined {
  if (typeof id !== 'string' || !/^Q[1-9]\d{0,9}$/.test(id)) return undefined;
  const number = Number(id.slice(1));
  return number <= MAX_ITEM_NUMBER ? number : undefined;
}

/** Labels or descriptions by language. */
export function textsOf(map: unknown): Map<string, string> {
  return new Map(
    Object.entries(Object(map)).flatMap(([language, entry]) => {
      const text = cleanText(Object(entry).value);
      return text === '' ? [] : [[language, text]];
    }),
  );
}

export function aliasesOf(entity: Entity, language: string): string[] {
  const aliases: unknown = Object(entity.aliases)[language];
  return Array.isArray(aliases) ? aliases.map((alias) => cleanText(Object(alias).value)).filter(Boolean) : [];
}

/** Returns a property's statements, those of preferred rank first. Deprecated statements are left out. */
export function statementsOf(entity: Entity, property: string): Statement[] {
  const statements: unknown = Object(entity.claims)[property];
  if (!Array.isArray(statements)) return [];
  return statements
    .filter((statement) => typeof statement === 'object' && statement !== null)
    .filter(({ rank }) => rank !== 'deprecated')
    .sort((a, b) => Number(b.rank === 'preferred') - Number(a.rank === 'preferred'));
}

/** Returns the statements of preferred rank if there are any, else all statements. */
export function bestOf(statements: readonly Statement[]): Statement[] {
  const preferred = statements.filter(({ rank }) => rank === 'preferred');
  return preferred.length > 0 ? preferred : [...statements];
}

/** Returns the statements that have begun and not ended. A statement that ended at an unknown time has ended. */
export function currentOf(statements: readonly Statement[], now: Date): Statement[] {
  return statements.filter(
    (statement) =>
      !hasEndedBy(statement, now) &&
      qualifierTimes(statement, 'P580').every(({ begins }) => begins <= now.getTime()),
  );
}

export function hasEndedBy(statement: Statement, now: Date): boolean {
  const ends = qualifiersOf(statement, 'P582');
  return ends.some((end) => end.snaktype === 'somevalue') || ends.map(timeOf).some((end) => isBy(now, end));
}

export function isBy(now: Date, time: WikiTime | undefined): boolean {
  return time !== undefined && time.begins <= now.getTime();
}

export function qualifiersOf({ qualifiers }: Statement, property: string): Snak[] {
  const snaks: unknown = Object(qualifiers)[property];
  return Array.isArray(snaks) ? snaks.filter((snak) => typeof snak === 'object' && snak !== null) : [];
}

export function qualifierTimes(statement: Statement, property: string): WikiTime[] {
  return qualifiersOf(statement, property).flatMap((snak) => timeOf(snak) ?? []);
}

function valueIn(snak: Snak | undefined): unknown {
  return snak?.snaktype === 'value' ? snak.datavalue?.value : undefined;
}

export function itemOf(snak: Snak | undefined): ItemNumber | undefined {
  return itemNumber(Object(valueIn(snak)).id);
}

export function textOf(snak: Snak | undefined): string {
  return cleanText(valueIn(snak));
}

export function localTextOf(snak: Snak | undefined): { text: string; language: string } | undefined {
  const { text, language } = Object(valueIn(snak));
  const clean = cleanText(text);
  return clean === '' || typeof language !== 'string' ? undefined : { text: clean, language };
}

/** Returns a quantity's amount: "+164000". */
export function amountOf(snak: Snak | undefined): number | undefined {
  const { amount } = Object(valueIn(snak));
  const number = typeof amount === 'string' && amount !== '' ? Number(amount) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

/** Coordinates on Earth. Undefined for other globes. */
export function coordinatesOf(snak: Snak | undefined): { latitude: number; longitude: number } | undefined {
  const { latitude, longitude, globe } = Object(valueIn(snak));
  const isOnEarth = globe === undefined || globe === null || String(globe).endsWith('/Q2');
  if (!isOnEarth || !isDegrees(latitude, 90) || !isDegrees(longitude, 180)) return undefined;
  return { latitude, longitude };
}

function isDegrees(value: unknown, most: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= most;
}

const DECADE = 8;
const YEAR = 9;
const MONTH = 10;
const DAY = 11;
const GREGORIAN = 'Q1985727';

/**
 * Returns a point in time, as exact as the statement ("1976-04-01", "1976-04", "1976", "1970s"), and when the day, month, year or
 * decade begins, in milliseconds since 1970. Undefined for times that are known only to the century or less exactly. If a day or
 * month is in the Julian calendar, only the year is kept, because the Gregorian date would differ.
 */
export function timeOf(snak: Snak | undefined) {
  const { time, precision, calendarmodel } = Object(valueIn(snak));
  const parts = typeof time === 'string' ? /^\+0*(\d{4})-(\d{2})-(\d{2})T/.exec(time) : null;
  if (parts === null || typeof precision !== 'number' || precision < DECADE) return undefined;
  const [, year = '', month = '', day = ''] = parts;
  const isGregorian = typeof calendarmodel !== 'string' || calendarmodel.endsWith(GREGORIAN);
  const known = precision > YEAR && !isGregorian ? YEAR : precision;
  if (known === DECADE) {
    const decade = `${year.slice(0, 3)}0`;
    return { text: `${decade}s`, begins: Date.parse(`${decade}-01-01`), isDay: false };
  }
  const text =
    known >= DAY && isDay(`${year}-${month}-${day}`)
      ? `${year}-${month}-${day}`
      : known >= MONTH && month >= '01' && month <= '12'
        ? `${year}-${month}`
        : year;
  return { text, begins: Date.parse(text), isDay: text.length === 10 };
}

function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Makes a text fit for a record: one line without control characters and halves of characters. '' if the value is not a text. */
export function cleanText(value: unknown): string {
  return typeof value === 'string'
    ? value
        .toWellFormed()
        .replace(/[\p{Cc}\s]+/gu, ' ')
        .trim()
    : '';
}
