/** The kinds of images, and the folder of each in paths. */
export const FOLDERS = { logo: 'logos', banner: 'banners', exchange: 'exchanges' } as const;
export type PictureKind = keyof typeof FOLDERS;

/** The formats in which images are stored and answered. */
export const FORMATS = ['svg', 'png', 'webp', 'avif'] as const;
export type Format = (typeof FORMATS)[number];

/** The bounds of the longer side, in pixels, that a request can ask for. */
export const SIZES = [32, 64, 128, 256, 512] as const;
export type Size = (typeof SIZES)[number];
/** The bound of the longer side of an image's small form, in pixels. */
export const SMALL_SIZE = 64;

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** An encoded picture. */
export interface Form {
  format: Format;
  /** Pixels. */
  width: number;
  height: number;
  bytes: Uint8Array;
}

/** The change that makes a form readable on its background. */
export type Treatment = 'as_given' | 'recoloured' | 'plate';

/** A picture that the service does not take. The message is for the person who sent it: why, and what to do. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** Every public path begins with this, so that an Ingress sends it here without a rewriting. */
export const BASE = '/images/';

/** What a URL asks for. */
export interface Wanted {
  /** A stored image by its id, or a drawn monogram by its path below `monograms/`. */
  source: { kind: PictureKind; id: string } | { kind: 'monogram'; path: string };
  /** Undefined: the request's Accept decides. */
  format: Format | undefined;
  /** Undefined: the picture's own size. */
  size: Size | undefined;
  theme: Theme;
}

const KINDS = new Map(
  Object.entries(FOLDERS).map(([kind, folder]) => [folder as string, kind as PictureKind]),
);
const EXTENSION = `(?:\\.(${FORMATS.join('|')}))?`;
const STORED = new RegExp(`^(${[...KINDS.keys()].join('|')})/([0-9a-f]{32})${EXTENSION}$`);
const MONOGRAM = new RegExp(`^monograms/(.+?)${EXTENSION}$`);

/** Says which queries are allowed. */
export const QUERY_HELP =
  `The query may hold, each once, joined by a single & and without escapes: size=${SIZES.join('|')}, ` +
  `format=${FORMATS.join('|')} ` +
  `(svg only where the image is stored as SVG), theme=${THEMES.join('|')}.`;

/** Reads the path and the query of a request. Returns why they lead to no picture, if so. */
export function readImageUrl(url: string): Wanted | 'no_route' | 'no_image' | 'bad_query' {
  const queryAt = url.indexOf('?');
  const path = queryAt < 0 ? url : url.slice(0, queryAt);
  if (!path.startsWith(BASE)) return 'no_route';
  const found = readPath(path.slice(BASE.length));
  if (!found) return 'no_image';
  if (queryAt < 0) return { ...found, size: undefined, theme: 'light' };
  const query = readQuery(url.slice(queryAt + 1));
  if (!query) return 'bad_query';
  const { format = found.format, size, theme = 'light' } = query;
  return { source: found.source, format, size, theme };
}

function readPath(path: string): Pick<Wanted, 'source' | 'format'> | undefined {
  const [, folder, hash, format] = STORED.exec(path) ?? [];
  const kind = KINDS.get(folder ?? '');
  if (kind) return { source: { kind, id: `${folder}/${hash}` }, format: format as Format | undefined };
  const [, monogram, extension] = MONOGRAM.exec(path) ?? [];
  if (monogram === undefined) return undefined;
  return { source: { kind: 'monogram', path: monogram }, format: extension as Format | undefined };
}

/**
 * Reads the query as it is written. An escape, an empty part or a part that comes twice is refused: otherwise one picture would
 * have any number of URLs, each with a separate entry in a CDN.
 */
function readQuery(query: string): Partial<Omit<Wanted, 'source'>> | undefined {
  const read: Partial<Record<string, string | number>> = {};
  for (const part of query.split('&')) {
    const [name, value] = PARAMETERS.get(part) ?? [];
    if (name === undefined || name in read) return undefined;
    read[name] = value;
  }
  return read as Partial<Omit<Wanted, 'source'>>;
}

/** The name and the value of each part that a query may have, such as "size=64". */
const PARAMETERS: ReadonlyMap<string, readonly [name: string, value: string | number]> = new Map(
  Object.entries({ size: SIZES, format: FORMATS, theme: THEMES }).flatMap(([name, values]) =>
    values.map((value) => [`${name}=${value}`, [name, value] as const] as const),
  ),
);

/** Returns the id of the stored image to which a path in a record leads, such as "logos/0123….svg?size=64". Undefined if to none. */
export function imageIdOfPath(path: string): string | undefined {
  const wanted = readImageUrl(BASE + path);
  return typeof wanted === 'object' && wanted.source.kind !== 'monogram' ? wanted.source.id : undefined;
}
