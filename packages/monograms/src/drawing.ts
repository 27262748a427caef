import { hash } from 'node:crypto';
import { OUTLINES } from './gen/outlines.ts';
import { isRightToLeft, lettersOf } from './letters.ts';

/**
 * The colours of the plates, by hue. Each has about the same luminance, so that white letters on it have a contrast of more than
 * 4.5, and the plate has one of more than 3 against white and against #111111 pages (WCAG 2.2).
 */
export const PALETTE = [
  '#c93166',
  '#c83939',
  '#b94f1f',
  '#a46115',
  '#916d0e',
  '#6a7811',
  '#2b8134',
  '#058158',
  '#017f72',
  '#027b8a',
  '#0077a6',
  '#006cd3',
  '#4c5ee2',
  '#7552dc',
  '#9745c8',
  '#b63896',
] as const;

export type PlateColour = (typeof PALETTE)[number];

/** Returns the colour of an id. Ids are spread evenly over the palette. */
export function colourOf(id: string): PlateColour {
  const [byte = 0] = hash('sha256', id, 'buffer');
  return PALETTE[byte % PALETTE.length] ?? PALETTE[0];
}

/** The content of a monogram. Its drawing follows from these two values. */
export interface Monogram {
  /** One or two letters as lettersOf returns them. '' is drawn as a sign. */
  letters: string;
  colour: PlateColour;
}

/**
 * Returns the monogram of a record: letters of its name, on a colour that follows from its id.
 *
 * @param record.name without legal forms: their initials would become letters
 */
export function monogramOf(record: { id: string; name: string; isPerson?: boolean }): Monogram {
  return { letters: lettersOf(record.name, record), colour: colourOf(record.id) };
}

/** The side of the drawing's square of coordinates. */
const SIDE = 512;
const RADIUS = 112;
/** The size of the letters, before they are made to fit. Two letters are smaller, so that both sizes look alike on a page. */
const ONE_LETTER_EM = 320;
const TWO_LETTERS_EM = 256;
/** The ink is no wider and no higher than this, so that the letters stay clear of the plate's edges and corners. */
const MOST_WIDTH = 352;
const MOST_HEIGHT = 320;
/** Alphabets with capitals, which all have the same height. */
const WITH_CAPITALS = /^[0-9\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]+$/u;
/** The middle of a capital in 1/1,000 em, and of any sign that its size follows. */
const CAPITAL_MIDDLE = -364;
const CAPITAL_HEIGHT = 728;
/** How much larger than capitals the letters of other scripts may be drawn, most of which are lower. */
const MOST_LARGER = 1.3;

/** What a monogram without letters shows: a square on its corner, which is not a letter of any script. */
const SIGN =
  '<rect x="166" y="166" width="180" height="180" rx="28" fill="#fff" transform="rotate(45 256 256)"/>';

/** Scripts of which each character fills a square of one em. */
const SQUARE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]$/u;
/** Fonts of Windows, Apple's systems, Android and Linux, so that all choose one with even strokes. */
const FONTS =
  "'Segoe UI','Microsoft YaHei','PingFang SC','Hiragino Sans','Noto Sans','Noto Sans CJK SC',sans-serif";

/**
 * Draws the monogram as an SVG of `size` by `size` pixels: white letters in the middle of a plate with rounded corners. Letters
 * of the scripts in OUTLINES are outlines, so they look the same everywhere. Letters of other scripts are text in a font of the
 * viewer.
 */
export function drawMonogram({ letters, colour }: Monogram, size: number = SIDE): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${SIDE} ${SIDE}">` +
    `<rect width="${SIDE}" height="${SIDE}" rx="${RADIUS}" fill="${colour}"/>${drawLetters(letters)}</svg>`
  );
}

/** Whether the letters are text, for which whoever renders the drawing needs a font. */
export function needsFont({ letters }: Pick<Monogram, 'letters'>): boolean {
  return [...letters].some((letter) => !OUTLINES.has(letter));
}

function drawLetters(letters: string): string {
  if (letters === '') return SIGN;
  return needsFont({ letters }) ? drawText(letters) : drawOutlines(letters);
}

/** Puts the outlines beside each other in visual order, their ink in the middle of the plate. */
function drawOutlines(letters: string): string {
  const inOrder = isRightToLeft(letters) ? [...letters].toReversed() : [...letters];
  let advanced = 0;
  const glyphs = inOrder.flatMap((letter) => {
    const outline = OUTLINES.get(letter);
    if (outline === undefined) return [];
    const [left, right, top, bottom, advance, path] = outline;
    const x = advanced;
    advanced += advance;
    return { x, left: x + left, right: x + right, top, bottom, path };
  });
  const left = Math.min(...glyphs.map((glyph) => glyph.left));
  const right = Math.max(...glyphs.map((glyph) => glyph.right));
  const top = Math.min(...glyphs.map((glyph) => glyph.top));
  const bottom = Math.max(...glyphs.map((glyph) => glyph.bottom));
  const hasCapitals = WITH_CAPITALS.test(letters);
  const usual = (glyphs.length > 1 ? TWO_LETTERS_EM : ONE_LETTER_EM) / 1_000;
  const larger = hasCapitals ? 1 : Math.max(1, Math.min(MOST_LARGER, CAPITAL_HEIGHT / (bottom - top)));
  const scale = Math.min(usual * larger, MOST_WIDTH / (right - left), MOST_HEIGHT / (bottom - top));
  // Capitals stand in the middle without their accents and tails, which pull them up or down by a third.
  const inkMiddle = (top + bottom) / 2;
  const middle = hasCapitals ? CAPITAL_MIDDLE + (inkMiddle - CAPITAL_MIDDLE) / 3 : inkMiddle;
  const paths = glyphs.map(({ x, path }) =>
    x === 0 ? `<path d="${path}"/>` : `<path transform="translate(${x})" d="${path}"/>`,
  );
  const [x, y] = [SIDE / 2 - ((left + right) / 2) * scale, SIDE / 2 - middle * scale];
  const transform = `translate(${rounded(x)} ${rounded(y)}) scale(${rounded(scale)})`;
  return `<g fill="#fff" transform="${transform}">${paths.join('')}</g>`;
}

function drawText(letters: string): string {
  const isSquare = SQUARE.test(letters);
  const em = isSquare ? 288 : 248;
  // The middle of a square character is 0.38 em above its baseline. Most other letters are lower.
  const y = SIDE / 2 + em * (isSquare ? 0.38 : 0.32);
  return (
    `<text x="${SIDE / 2}" y="${rounded(y)}" text-anchor="middle" fill="#fff" font-family="${FONTS}" ` +
    `font-size="${em}" font-weight="600">${letters}</text>`
  );
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
