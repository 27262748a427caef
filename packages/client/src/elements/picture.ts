import { element, safeUrl } from './dom.ts';

/** The sizes that the service serves, in pixels. */
const SIZES = [32, 64, 128, 256, 512];

/** The styles of a square that holds a logo, its skeleton or a letter. Its side is the font size. */
export const PICTURE_STYLES = `
.picture {
  position: relative;
  display: grid;
  place-items: center;
  flex: none;
  inline-size: 1em;
  block-size: 1em;
  contain: strict;
  forced-color-adjust: none;
  print-color-adjust: exact;
  border-radius: 16%;
}
.picture img { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; object-fit: contain; }
.picture[data-theme='light'] { background: #fff; }
.picture[data-theme='dark'] { background: #111; }
.picture[data-kind='loading'] { background: light-dark(#e4e7ec, #333a45); animation: pulse 1.2s ease-in-out infinite alternate; }
.picture[data-kind='letter'] { background: #5b6472; color: #fff; }
.letter { font: 600 0.5em/1 system-ui, sans-serif; }
@keyframes pulse { to { opacity: 0.5; } }
@media (prefers-reduced-motion: reduce) { .picture { animation: none !important; } }
`;

/** The colour of text in the dark theme, as a browser writes it. */
const DARK_TEXT = 'rgb(242, 244, 247)';

/**
 * What both elements have: no style of the page but its theme, and whether they can be seen and clicked. An element whose theme is
 * `auto` takes the colour scheme that the page uses at this place, light if it declares none. The transition tells the element when
 * this scheme changes, for whatever reason. The animation tells it that the page shows it again: until then nothing had a transition.
 */
export const HOST_STYLES = `
:host {
  all: initial;
  display: inline-block;
  vertical-align: middle;
  color-scheme: inherit;
  visibility: inherit;
  pointer-events: inherit;
  cursor: inherit;
}
:host([theme='light']) { color-scheme: light; }
:host([theme='dark']) { color-scheme: dark; }
:host([hidden]) { display: none; }
.frame, .sense { color: light-dark(#1a1d23, ${DARK_TEXT}); }
.sense { position: absolute; transition: color 1ms; animation: shown 1ms; forced-color-adjust: none; }
@keyframes shown { to { opacity: 1; } }
`;

export type Theme = 'light' | 'dark';

/** Returns the theme at the place of a frame, which is in the page. Adds an element that no style of the page reaches, by which it is seen. */
export function themeOf(frame: HTMLElement): Theme {
  const sense = element('span', { class: 'sense' });
  frame.append(sense);
  const theme = themeAt(sense);
  sense.dataset.theme = theme;
  return theme;
}

const themeAt = (sense: HTMLElement): Theme =>
  getComputedStyle(sense).color === DARK_TEXT ? 'dark' : 'light';

/** Checks whether an event in a shadow root says that the theme is another one than `themeOf` returned. */
export function isThemeChange({ target, type }: Event): boolean {
  if (!(target instanceof HTMLElement) || target.className !== 'sense') return false;
  return type === 'transitionrun' || themeAt(target) !== target.dataset.theme;
}

interface LogoOptions {
  /** The record's logo. */
  url: string;
  /** The side of the square, in CSS pixels. */
  size: number;
  theme: Theme;
  api: string;
  /** The text whose first letter is shown if the logo cannot be. */
  name: string;
}

/** Returns the square without a picture: while a record is loaded, or of an element that has nothing to load. */
export function skeleton(kind: 'loading' | 'empty'): HTMLElement {
  return element('span', { class: 'picture', part: 'picture', 'data-kind': kind });
}

/** Returns the square with the first letter of a text, where no logo can be shown. */
export function letterOf(text: string): HTMLElement {
  const [first = ''] = text.trim().toUpperCase();
  const letter = element('span', { class: 'letter', 'aria-hidden': 'true' }, first);
  return element('span', { class: 'picture', part: 'picture', 'data-kind': 'letter' }, letter);
}

/** Returns the square with a logo. The image is loaded when the square comes near the visible part of the page. */
export function logoOf({ url, size, theme, api, name }: LogoOptions): HTMLElement {
  const logo = safeUrl(url, api);
  if (logo === undefined) return letterOf(name);
  // Screens have up to two pixels for one of the page, and more are not seen.
  logo.searchParams.set('size', String(SIZES.find((each) => each >= 2 * size) ?? SIZES.at(-1)));
  logo.searchParams.set('theme', theme);
  const image = element('img', {
    alt: '',
    loading: 'lazy',
    decoding: 'async',
    width: `${size}`,
    height: `${size}`,
  });
  // A mark is readable on the plate of its theme, whatever colour the page has there.
  const square = element(
    'span',
    { class: 'picture', part: 'picture plate', 'data-kind': 'logo', 'data-theme': theme },
    image,
  );
  image.addEventListener('error', () => square.replaceWith(letterOf(name)), { once: true });
  image.src = logo.href;
  return square;
}
