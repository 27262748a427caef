import { drawMonogram, needsFont, parseMonogramPath } from '@brand-data/monograms';
import { Fault } from '@brand-data/runtime';
import { type Encoding, tagOf } from '@brand-data/runtime/http';
import { LRUCache } from 'lru-cache';
import { type Form, type Format, type Size, SMALL_SIZE, type Theme, type Wanted } from '../image/image.ts';
import type { ImageStore, StatedForms } from '../store/store.ts';
import type { Workers } from '../workers/workers.ts';
import { type Clients, createLimiter, SharedWork } from './turns.ts';

/**
 * Bounds of the pictures that are only read, and of those that wait to be drawn. `most`: each form in memory may take some MB. `waitMs`:
 * if the database does not answer, requests wait for so long, and for one look-up that fails.
 */
const TURNS = { most: 8, mostWaiting: 248, waitMs: 3_000 };
const MOST_KNOWN = 50_000;
const ABSENT_MS = 5_000;
const MOST_FAILED = 1_000;
const FAILED_MS = 30_000;

/** A picture as callers get it. */
export interface ServedPicture {
  format: Format;
  /** The ETag without quotes and encoding. */
  tag: string;
  encoding: Encoding;
  body: Buffer;
}

/** Why there is no picture. `no_image`: the image does not exist. `no_svg`: the image is stored as a raster. */
export type NoPicture = 'no_image' | 'no_svg';
export type MadePicture = ServedPicture | NoPicture;

/** One picture, with the format decided. */
export interface PictureOrder extends Wanted {
  format: Format;
  /** Names the picture among all that there may be. */
  key: string;
}

export function pictureOrder(wanted: Wanted, format: Format): PictureOrder {
  const { source, size, theme } = wanted;
  const key = `${source.kind} ${sourceKey(source)} ${format} ${size} ${theme}`;
  return { source, size, theme, format, key };
}

/**
 * Makes pictures, each from a stored form or as a monogram. It remembers for some seconds that an image does not exist, and that a
 * picture could not be drawn.
 */
export class PictureMaker {
  readonly #store: Pick<ImageStore, 'findForm' | 'findStated'>;
  readonly #workers: Pick<Workers, 'render'>;
  /** The stored formats and sizes of images by id. */
  readonly #known = new LRUCache<string, StatedForms | 'no_image'>({ max: MOST_KNOWN });
  readonly #failed = new LRUCache<string, Fault>({ max: MOST_FAILED, ttl: FAILED_MS });
  readonly #stating = new SharedWork<StatedForms | 'no_image'>();
  readonly #monogramKeys: readonly string[];
  readonly #reading = createLimiter(TURNS);
  /** As many turns as workers: a drawing that waited for a worker would have its turn before those of clients with fewer turns. */
  readonly #drawing: ReturnType<typeof createLimiter>;
  /** Monograms need no database, so they do not wait behind pictures that wait for it. */
  readonly #drawingMonograms: ReturnType<typeof createLimiter>;

  constructor(
    store: Pick<ImageStore, 'findForm' | 'findStated'>,
    workers: Pick<Workers, 'render'>,
    { monogramKeys, workerCount }: { monogramKeys: readonly string[]; workerCount: number },
  ) {
    this.#monogramKeys = monogramKeys;
    this.#drawing = createLimiter({ ...TURNS, most: workerCount });
    this.#drawingMonograms = createLimiter({ ...TURNS, most: workerCount });
    this.#store = store;
    this.#workers = workers;
  }

  /** Returns why the picture does not exist, if that is known without the database. Throws the fault of a drawing that failed. */
  knownAbsence({ source, theme, format, key }: PictureOrder): NoPicture | undefined {
    const forms = this.#known.get(sourceKey(source));
    if (forms === 'no_image') return forms;
    if (format === 'svg' && forms && formFor(theme, forms).format !== 'svg') return 'no_svg';
    const failure = this.#failed.get(key);
    if (failure) throw failure;
    return undefined;
  }

  /** Returns the format in which an image is stored for a theme. */
  async storedFormat(id: string, theme: Theme, client: string): Promise<Format | 'no_image'> {
    const forms =
      this.#known.get(id) ??
      (await this.#stating.share(id, client, (clients) => this.#statedForms(id, clients)));
    return forms === 'no_image' ? forms : formFor(theme, forms).format;
  }

  /** @param clients those who wait for the picture; more may come meanwhile */
  async make(order: PictureOrder, clients: Clients): Promise<MadePicture> {
    const { source, format, size } = order;
    if (source.kind !== 'monogram') return this.#makeStored(source.id, order, clients);
    const form = monogramForm(source.path, { format, size, keys: this.#monogramKeys });
    if (!form) return 'no_image';
    if (format === 'svg') return pictureOf(form);
    return this.#drawingMonograms(clients, () => this.#draw(form, order));
  }

  /**
   * Pictures that no worker has to draw, as most that records name, have separate turns, so that they do not wait for busy workers.
   * A picture that turns out to need drawing gives its turn back and is read again: a form that waits would take memory.
   */
  async #makeStored(id: string, order: PictureOrder, clients: Clients): Promise<MadePicture> {
    const forms =
      this.#known.get(id) ?? (isOftenStored(order) ? undefined : await this.#statedForms(id, clients));
    if (forms === 'no_image') return forms;
    if (!forms || !isDrawn(order, forms)) {
      const made = await this.#reading(clients, async () => {
        const result = await this.#read(id, order);
        return 'made' in result ? result.made : undefined;
      });
      if (made) return made;
    }
    return this.#drawing(clients, async () => {
      const result = await this.#read(id, order);
      return 'made' in result ? result.made : this.#draw(result.form, order);
    });
  }

  /** Returns the picture if no worker has to draw it, otherwise the stored form that a worker draws it from. */
  async #read(id: string, order: PictureOrder): Promise<{ made: MadePicture } | { form: Form }> {
    const { format, size, theme } = order;
    const found = await this.#store.findForm(id, theme);
    this.#remember(id, found?.stated);
    if (!found) return { made: 'no_image' };
    const { form, small } = found;
    if (format === 'svg' && form.format !== 'svg') return { made: 'no_svg' };
    if (format !== form.format) return { form };
    if (size === undefined) return { made: pictureOf(form) };
    if (size === SMALL_SIZE && small) return { made: pictureOf(small) };
    // An SVG in another size is the same text with another width and height.
    if (format === 'svg') return { made: await this.#draw(form, order) };
    return Math.max(form.width, form.height) <= size ? { made: pictureOf(form) } : { form };
  }

  async #draw(form: Form, { size, format, key }: PictureOrder): Promise<ServedPicture> {
    try {
      return pictureOf(await this.#workers.render(form, { format, ...(size ? { size } : {}) }));
    } catch (error) {
      // A picture that ends a worker would end further workers if it were tried again at once.
      if (error instanceof Fault && error.kind === 'failed_precondition') this.#failed.set(key, error);
      throw error;
    }
  }

  #statedForms(id: string, clients: Clients): Promise<StatedForms | 'no_image'> {
    return this.#reading(
      clients,
      async () => this.#known.get(id) ?? this.#remember(id, await this.#store.findStated(id)),
    );
  }

  #remember(id: string, forms: StatedForms | undefined): StatedForms | 'no_image' {
    if (forms) this.#known.set(id, forms);
    else this.#known.set(id, 'no_image', { ttl: ABSENT_MS });
    return forms ?? 'no_image';
  }
}

function sourceKey(source: Wanted['source']): string {
  return source.kind === 'monogram' ? source.path : source.id;
}

function formFor(theme: Theme, { light, dark = light }: StatedForms): StatedForms['light'] {
  return theme === 'dark' ? dark : light;
}

/** If no worker has to draw the picture, it is a stored form, or an SVG in another size. */
function isDrawn({ format, size, theme }: PictureOrder, forms: StatedForms): boolean {
  const stored = formFor(theme, forms);
  if (format !== stored.format) return true;
  if (format === 'svg' || size === undefined || (size === SMALL_SIZE && stored === forms.light)) return false;
  return Math.max(stored.width, stored.height) > size;
}

/** Checks whether a picture is so often a stored one that its form is read at once, before it is known what is stored. */
function isOftenStored({ format, size }: PictureOrder): boolean {
  return format === 'svg' || size === undefined || size === SMALL_SIZE;
}

function pictureOf({ format, bytes }: Form): ServedPicture {
  // A copy, because the bytes may be part of a larger message, which the cache would keep.
  const body = Buffer.allocUnsafeSlow(bytes.length);
  body.set(bytes);
  const tag = tagOf(body);
  return { format, tag, encoding: 'identity', body };
}

const SIDE = 512;

/**
 * Draws the monogram to which a path below `monograms/`, without its extension, leads. Undefined if it leads to none. A raster shows
 * a sign in place of letters that need a font, because the workers' fonts have no letters of these scripts.
 *
 * @param options.format what the form will be sent as; the form itself is an SVG
 * @param options.keys those with one of which the path was made
 */
export function monogramForm(
  path: string,
  { format, size = SIDE, keys }: { format: Format; size?: Size | undefined; keys: readonly string[] },
): Form | undefined {
  const monogram = parseMonogramPath(`monograms/${path}.svg`, keys);
  if (!monogram) return undefined;
  const isSvg = format === 'svg';
  const side = isSvg ? size : SIDE;
  const shown = !isSvg && needsFont(monogram) ? { ...monogram, letters: '' } : monogram;
  return { format: 'svg', width: side, height: side, bytes: Buffer.from(drawMonogram(shown, side)) };
}
