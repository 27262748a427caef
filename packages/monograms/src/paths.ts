import { createHmac } from 'node:crypto';
import { drawMonogram, type Monogram, PALETTE } from './drawing.ts';
import { lettersOf } from './letters.ts';

const FOLDER = 'monograms';
/** The sides of the big and of the small image of a record, in pixels. */
const BIG = 512;
const SMALL = 64;
const MARK_DIGITS = 16;
/** The names of a monogram without letters, and of letters beyond ASCII, which are given by their code points. */
const SIGN = 'sign';
const CODED = 'u';
const FILE =
  /^(?<letters>[0-9A-Z]{1,2}|sign|u[0-9a-f]{2,6}(?:\.[0-9a-f]{2,6})?)-(?<colour>[0-9a-f]{6})-[0-9a-f]{16}$/;

/**
 * Returns the monogram's path below the base URL of images: "monograms/GM-006cd3-d853d0d8d38e9da7.svg". It has all that the
 * drawing needs, and ends in the drawing's mark: what a path leads to never changes, and only who has the key makes a path. It has
 * no character that a URL would encode.
 *
 * @param key any text; gateways and images share it
 */
export function monogramPath(monogram: Monogram, key: string): string {
  return pathTo(monogram, drawMonogram(monogram, BIG), key);
}

/**
 * Returns the big and the small image of the monogram, as a record shows them (Image of proto/brand_data/v1/brand.proto).
 *
 * @param key as for monogramPath
 */
export function monogramImages(monogram: Monogram, key: string) {
  const drawing = drawMonogram(monogram, BIG);
  const path = pathTo(monogram, drawing, key);
  return {
    big: imageOf(path, BIG, drawing),
    small: imageOf(`${path}?size=${SMALL}`, SMALL, drawMonogram(monogram, SMALL)),
  };
}

/**
 * Returns the monogram to which a path leads. The path may lack its extension, and must not have a query. Undefined for every
 * path that monogramPath does not make with one of the keys, so that a URL can draw nothing but what a record names.
 */
export function parseMonogramPath(path: string, keys: readonly string[]): Monogram | undefined {
  const [folder, file = '', ...rest] = path.split('/');
  if (folder !== FOLDER || rest.length > 0) return undefined;
  const bare = file.replace(/\.(?:svg|png|webp|avif)$/, '');
  const { letters: named = '', colour: hex = '' } = FILE.exec(bare)?.groups ?? {};
  const letters = lettersNamed(named);
  const colour = PALETTE.find((candidate) => candidate === `#${hex}`);
  if (letters === undefined || colour === undefined) return undefined;
  const monogram = { letters, colour };
  const isMade = keys.some((key) => monogramPath(monogram, key) === `${FOLDER}/${bare}.svg`);
  return isMade ? monogram : undefined;
}

function pathTo({ letters, colour }: Monogram, drawing: string, key: string): string {
  const mark = createHmac('sha256', key).update(drawing).digest('hex').slice(0, MARK_DIGITS);
  return `${FOLDER}/${nameOf(letters)}-${colour.slice(1)}-${mark}.svg`;
}

function nameOf(letters: string): string {
  if (letters === '') return SIGN;
  if (/^[0-9A-Z]+$/.test(letters)) return letters;
  return CODED + Array.from(letters, (letter) => letter.codePointAt(0)?.toString(16)).join('.');
}

/** Returns the letters of a name of nameOf. Undefined if they are not letters that lettersOf chooses. */
function lettersNamed(name: string): string | undefined {
  if (name === SIGN) return '';
  const isCoded = name.startsWith(CODED);
  const codes = isCoded ? Array.from(name.slice(1).split('.'), (code) => Number.parseInt(code, 16)) : [];
  if (codes.some((code) => code > 0x10_ffff)) return undefined;
  const letters = isCoded ? String.fromCodePoint(...codes) : name;
  return letters !== '' && lettersOf(letters) === letters ? letters : undefined;
}

function imageOf(path: string, side: number, drawing: string) {
  /** Kilobytes of 1,024 bytes, to two decimals. */
  const sizeKb = Math.round((Buffer.byteLength(drawing) / 1_024) * 100) / 100;
  return { path, width: side, height: side, format: 'svg', sizeKb };
}
