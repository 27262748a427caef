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
  border-radius: 16%;
}
.picture img { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; object-fit: contain; }
.picture[data-kind='loading'] { background: var(--brand-skeleton); animation: pulse 1.2s ease-in-out infinite alternate; }
.picture[data-kind='letter'] { background: #5b6472; color: #fff; }
.letter { font: 600 0.5em/1 system-ui, sans-serif; }
@keyframes pulse { to { opacity: 0.5; } }
@media (prefers-reduced-motion: reduce) { .picture { animation: none !important; } }
`;

/** What both elements have: no style of the page, not even an inherited one, and the variables of both themes. */
export const HOST_STYLES = `
:host {
  all: initial;
  display: inline-block;
  vertical-align: middle;
  --brand-skeleton: #e4e7ec; --brand-text: #1a1d23; --brand-muted: #5b6472; --brand-surface: #fff; --brand-line: #d5d9e0;
  color-scheme: light;
}
:host([theme='dark']) {
  --brand-skeleton: #333a45; --brand-text: #f2f4f7; --brand-muted: #a7b0be; --brand-surface: #16191f; --brand-line: #3a414d;
  color-scheme: dark;
}
@media (prefers-color-scheme: dark) {
  :host(:not([theme='light'])) {
    --brand-skeleton: #333a45; --brand-text: #f2f4f7; --brand-muted: #a7b0be; --brand-surface: #16191f; --brand-line: #3a414d;
    color-scheme: dark;
  }
}
:host([hidden]) { display: none; }
`;

interface LogoOptions {
  /** The record's logo. */
  url: string;
  /** The side of the square, in CSS pixels. */
  size: number;
  theme: 'light' | 'dark' | 'auto';
  api: string;
  /** The text whose first letter is shown if the logo cannot be. */
  name: string;
}

/** Returns the square while a record is loaded. */
export function skeleton(): HTMLElement {
  return element('span', { class: 'picture', part: 'picture', 'data-kind': 'loading' });
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
  const srcOf = (shown: 'light' | 'dark') => {
    logo.searchParams.set('theme', shown);
    return logo.href;
  };
  const image = element('img', {
    alt: '',
    loading: 'lazy',
    decoding: 'async',
    width: `${size}`,
    height: `${size}`,
  });
  const content =
    theme === 'auto'
      ? element(
          'picture',
          {},
          element('source', { media: '(prefers-color-scheme: dark)', srcset: srcOf('dark') }),
          image,
        )
      : image;
  const square = element('span', { class: 'picture', part: 'picture', 'data-kind': 'logo' }, content);
  image.addEventListener('error', () => square.replaceWith(letterOf(name)), { once: true });
  image.src = srcOf(theme === 'dark' ? 'dark' : 'light');
  return square;
}
