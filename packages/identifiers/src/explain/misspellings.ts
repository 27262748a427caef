/**
 * Finds names that are spelled almost like a text. No identifier resolves by it. Each name has two short keys, which say how its
 * halves sound, whatever its vowels, doubled letters and confused consonants. If one consonant is wrong, one half is still right.
 */

/** Consonants that people confuse count as one. */
const SOUND_OF: ReadonlyMap<string, string> = new Map(
  Object.entries({ b: 'p', c: 'k', d: 't', g: 'k', m: 'n', q: 'k', v: 'f', w: 'f', z: 's' }),
);
const VOWELS = new Set('aeiouyаеёиоуыэюя');
/** Letters that keys omit after the first one: vowels, "h", and й, ъ, ь. */
const SILENT = new Set([...VOWELS, ...'hйъь']);
/** How many sounds of a half are in its key. */
const LONGEST_HALF = 6;
/** The first character of keys. No other key of a record begins with it. */
const FRONT = '<';
const BACK = '>';
/** The price of a small mistake in letters: a doubled letter, another vowel, a consonant that sounds alike. */
const SLIGHT = 0.5;

/** Returns the keys of a name's halves. The name is in its normal form. */
export function soundKeys(name: string): string[] {
  const sounds = soundsOf(name);
  return keysOfHalves(sounds, sounds.length);
}

/** Returns at most seven keys of names that sound like the text, also with one consonant more, less, other or exchanged. */
export function soundKeysToRead(text: string): string[] {
  const sounds = soundsOf(text);
  const count = sounds.length;
  if (count === 0) return [];
  const middle = Math.ceil(count / 2);
  // An exchange within one half leaves the other half right. This is the one between the halves.
  const exchanged = [
    ...sounds.slice(0, Math.max(0, middle - 1)),
    ...sounds.slice(middle, middle + 1),
    ...sounds.slice(middle - 1, middle),
  ];
  const keys = [
    ...keysOfHalves(sounds, count),
    ...keysOfHalves(exchanged, count).slice(0, 1),
    ...keysOfHalves(sounds, count + 1),
    ...keysOfHalves(sounds, count - 1),
  ];
  return [...new Set(keys)];
}

/** Returns the keys of a name with `count` sounds, if its first or its last sounds are these. */
function keysOfHalves(sounds: readonly string[], count: number): string[] {
  const front = Math.ceil(count / 2);
  const back = count - front;
  const key = (mark: string, half: readonly string[]) => mark + count.toString(36) + half.join('');
  return [
    ...(front > 0 ? [key(FRONT, sounds.slice(0, front).slice(0, LONGEST_HALF))] : []),
    ...(back > 0 ? [key(BACK, sounds.slice(-back).slice(-LONGEST_HALF))] : []),
  ];
}

/** Returns the first letter, all vowels counting as one, and all later consonants. Imports call it for every record. */
function soundsOf(text: string): string[] {
  const sounds: string[] = [];
  let last = '';
  for (const letter of text.replaceAll(' ', '').replaceAll('ph', 'f')) {
    const sound = SOUND_OF.get(letter) ?? letter;
    if (sound === last) continue;
    if (sounds.length === 0) sounds.push(VOWELS.has(sound) ? 'a' : sound);
    else if (!SILENT.has(sound)) sounds.push(sound);
    last = sound;
  }
  return sounds;
}

/** Returns how many letters differ (optimal string alignment), small mistakes counting half. Infinity if above `most`. */
export function spellingDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) * SLIGHT > most) return Number.POSITIVE_INFINITY;
  const [rows, columns] = [lettersOf(a), lettersOf(b)];
  // Only beginnings of nearly equal length are compared. If the lengths differ more, the shorter one lacks too many letters.
  const band = Math.floor(most / SLIGHT);
  const pricesOfRow = () => new Float64Array(columns.length + 1).fill(Number.POSITIVE_INFINITY);
  let [beforeLast, last, current] = [pricesOfRow(), pricesOfRow(), pricesOfRow()];
  last[0] = 0;
  for (const [column, { priceOfExtra }] of columns.slice(0, band).entries())
    last[column + 1] = at(last, column) + priceOfExtra;
  for (const [row, own] of rows.entries()) {
    const start = Math.max(0, row - band);
    let least = start === 0 ? at(last, 0) + own.priceOfExtra : Number.POSITIVE_INFINITY;
    current[start] = least;
    for (const [offset, other] of columns.slice(start, row + band + 1).entries()) {
      const column = start + offset;
      const isExchange = rows[row - 1]?.letter === other.letter && columns[column - 1]?.letter === own.letter;
      const price = Math.min(
        at(last, column + 1) + own.priceOfExtra,
        at(current, column) + other.priceOfExtra,
        at(last, column) + priceOfWrong(own, other, row + column === 0),
        isExchange ? at(beforeLast, column - 1) + 1 : Number.POSITIVE_INFINITY,
      );
      current[column + 1] = price;
      least = Math.min(least, price);
    }
    if (least > most) return Number.POSITIVE_INFINITY;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  const distance = at(last, columns.length);
  return distance > most ? Number.POSITIVE_INFINITY : distance;
}

function at(prices: Float64Array, index: number): number {
  return prices[index] ?? Number.POSITIVE_INFINITY;
}

type Letter = ReturnType<typeof lettersOf>[number];

function lettersOf(text: string) {
  return Array.from({ length: text.length }, (_, at) => {
    const letter = text.charAt(at);
    const isSlight = at > 0 && (letter === text.charAt(at - 1) || letter === 'h' || letter === 'y');
    const sound = VOWELS.has(letter) ? 'a' : (SOUND_OF.get(letter) ?? letter);
    return { letter, sound, priceOfExtra: isSlight ? SLIGHT : 1 };
  });
}

function priceOfWrong(a: Letter, b: Letter, isFirst: boolean): number {
  if (a.letter === b.letter) return 0;
  if (a.sound === b.sound || (a.letter === 'c' && b.letter === 's') || (a.letter === 's' && b.letter === 'c'))
    return SLIGHT;
  return isFirst ? 1 + SLIGHT : 1;
}
