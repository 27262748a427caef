import { Fault } from '@brand-data/runtime';
import { chooseEncoding, compress, type Encoding, tagOf } from '@brand-data/runtime/http';
import { LRUCache } from 'lru-cache';
import { type Form, type Format, type Size, SMALL_SIZE, type Theme } from '../image/image.ts';
import type { Wanted } from '../image/image-path.ts';
import type { ImageStore, StatedForms } from '../store/store.ts';
import type { Workers } from '../workers/workers.ts';
import { createLimiter } from './limiter.ts';
import { monogramForm } from './monogram.ts';
import { negotiateFormat } from './negotiate.ts';

/**
 * Bounds of the pictures that are only read, and of those that are drawn. `most`: each form in memory may take some MB. `waitMs`: if
 * the database does not answer, requests wait for so long, and for one look-up that fails.
 */
const TURNS = { most: 8, mostWaiting: 248, waitMs: 3_000 };
/** Bounds of the drawings that are compressed: one a thread of Node's pool, and at most 1 MiB in memory for each that waits. */
const COMPRESSION_TURNS = { most: 4, mostWaiting: 60, waitMs: 3_000 };
const MOST_KNOWN = 50_000;
const ABSENT_MS = 5_000;
const MOST_FAILED = 1_000;
const FAILED_MS = 30_000;
/** A picture's key, tag and objects. */
const ENTRY_OVERHEAD_BYTES = 1_024;

/** A picture as callers get it. */
export interface ServedPicture {
  format: Format;
  /** The ETag without quotes and encoding. */
  tag: string;
  encoding: Encoding;
  body: Buffer;
}

/** What the caller accepts. */
interface Accepted {
  /** Decides the format if the URL names none. */
  accept?: string | undefined;
  /** Decides the encoding of an SVG. */
  acceptEncoding?: string | undefined;
}

/** A picture in the cache. An SVG also has its compressed bodies, each from the first time that a caller accepted it. */
interface Cached extends ServedPicture {
  compressed: Partial<Record<Encoding, ServedPicture>>;
}

/** `no_image`: there is no such image. `no_svg`: the image is stored as a raster, so it cannot be had as SVG. */
export type FoundPicture = ServedPicture | 'no_image' | 'no_svg';

/** The counters of the cache since the start of the process, and its size. */
export interface PictureStats {
  hits: number;
  /** Requests that waited for a picture that was being made already. */
  joined: number;
  misses: number;
  entries: number;
  bytes: number;
}

/** A picture before it is compressed, or why there is none. */
type Made = Cached | Exclude<FoundPicture, ServedPicture>;

export interface Pictures {
  /**
   * Returns a picture that is in the cache at once. Rejects or throws Fault `unavailable` if the database does not answer, Fault
   * `resource_exhausted` if too many pictures wait to be made, and Fault `failed_precondition` if the picture cannot be drawn
   * within the bounds of a worker.
   */
  find(wanted: Wanted, accepted: Accepted): FoundPicture | Promise<FoundPicture>;
  stats(): PictureStats;
}

/**
 * Finds pictures and caches them, up to a number of bytes. Requests for a picture that is being made wait for it together. An
 * image that does not exist is remembered for some seconds, and so is a picture that could not be drawn.
 */
export function createPictures(
  store: Pick<ImageStore, 'findForm' | 'findStated'>,
  workers: Pick<Workers, 'render'>,
  { cacheBytes }: { cacheBytes: number },
): Pictures {
  const cache = new LRUCache<string, Cached>({
    maxSize: cacheBytes,
    sizeCalculation: ({ body, compressed }, key) =>
      [body, ...Object.values(compressed).map(({ body }) => body)].reduce(
        (bytes, { length }) => bytes + length + ENTRY_OVERHEAD_BYTES,
        key.length * 2,
      ),
  });
  /** The stored formats and sizes of images by id. */
  const known = new LRUCache<string, StatedForms | 'no_image'>({ max: MOST_KNOWN });
  const failed = new LRUCache<string, Fault>({ max: MOST_FAILED, ttl: FAILED_MS });
  /** Work that requests wait for, by what it makes. */
  const pending = new Map<string, Promise<unknown>>();
  const reading = createLimiter(TURNS);
  const drawing = createLimiter(TURNS);
  const compressing = createLimiter(COMPRESSION_TURNS);
  const counters = { hits: 0, joined: 0, misses: 0 };

  /** Returns the work under way that makes `what`, or begins it. */
  function share<T>(what: string, make: () => Promise<T>): Promise<T> {
    const underWay = pending.get(what) as Promise<T> | undefined;
    if (underWay) return underWay;
    const making = make().finally(() => pending.delete(what));
    pending.set(what, making);
    return making;
  }

  function remember(id: string, forms: StatedForms | undefined): StatedForms | 'no_image' {
    if (forms) known.set(id, forms);
    else known.set(id, 'no_image', { ttl: ABSENT_MS });
    return forms ?? 'no_image';
  }
  /** The stored formats and sizes of an image, known or read. */
  const statedForms = (id: string): Promise<StatedForms | 'no_image'> =>
    share(`stated ${id}`, () =>
      reading(async () => known.get(id) ?? remember(id, await store.findStated(id))),
    );

  async function draw(form: Form, size: Size | undefined, format: Format, key: string): Promise<Cached> {
    try {
      return pictureOf(await workers.render(form, { format, ...(size ? { size } : {}) }));
    } catch (error) {
      // A picture that ends a worker would end others if it were tried again at once.
      if (error instanceof Fault && error.kind === 'failed_precondition') failed.set(key, error);
      throw error;
    }
  }

  async function makeMonogram(path: string, { size }: Wanted, format: Format, key: string): Promise<Made> {
    const form = monogramForm(path, { format, size });
    if (!form) return 'no_image';
    return format === 'svg' ? pictureOf(form) : draw(form, size, format, key);
  }

  /** Returns the picture if no worker has to draw it, otherwise the stored form that a worker draws it from. */
  async function read(
    id: string,
    { size, theme }: Wanted,
    format: Format,
    key: string,
  ): Promise<{ made: Made } | { form: Form }> {
    const found = await store.findForm(id, theme);
    remember(id, found?.stated);
    if (!found) return { made: 'no_image' };
    const { form, small } = found;
    if (format === 'svg' && form.format !== 'svg') return { made: 'no_svg' };
    if (format === form.format) {
      if (size === undefined) return { made: pictureOf(form) };
      if (size === SMALL_SIZE && small) return { made: pictureOf(small) };
      // An SVG in another size is the same text with another width and height.
      if (format === 'svg') return { made: await draw(form, size, format, key) };
      if (Math.max(form.width, form.height) <= size) return { made: pictureOf(form) };
    }
    return { form };
  }

  /**
   * Pictures that no worker draws, as most of those that records name, have turns of their own, so that they do not wait for busy
   * workers. A picture that turns out to need drawing gives its turn back and is read again: a form that waits would take memory.
   */
  async function makeStored(id: string, wanted: Wanted, format: Format, key: string): Promise<Made> {
    const forms = known.get(id) ?? (isOftenStored(wanted, format) ? undefined : await statedForms(id));
    if (forms === 'no_image') return forms;
    if (!forms || !isDrawn(wanted, format, forms)) {
      const made = await reading(async () => {
        const result = await read(id, wanted, format, key);
        return 'made' in result ? result.made : undefined;
      });
      if (made) return made;
    }
    return drawing(async () => {
      const result = await read(id, wanted, format, key);
      return 'made' in result ? result.made : draw(result.form, wanted.size, format, key);
    });
  }

  /** Finds a picture as it is before it is compressed. */
  const find = (wanted: Wanted, format: Format, key: string): Made | Promise<Made> => {
    const { source, theme } = wanted;
    const id = idOf(source);
    const cached = cache.get(key);
    if (cached) {
      counters.hits += 1;
      return cached;
    }
    const forms = known.get(id);
    if (forms === 'no_image') return forms;
    if (format === 'svg' && forms && formFor(theme, forms).format !== 'svg') return 'no_svg';
    const failure = failed.get(key);
    if (failure) throw failure;
    if (pending.has(key)) counters.joined += 1;
    else counters.misses += 1;
    return share(key, async () => {
      // A monogram needs no database, so it does not wait behind look-ups.
      const found =
        source.kind === 'monogram'
          ? await makeMonogram(source.path, wanted, format, key)
          : await makeStored(source.id, wanted, format, key);
      if (typeof found === 'object') cache.set(key, found);
      return found;
    });
  };

  /** The drawing in an encoding, which is made once. If too many wait to be compressed, it is the drawing as it is. */
  const encoded = (
    picture: Cached,
    encoding: Encoding,
    key: string,
  ): ServedPicture | Promise<ServedPicture> => {
    if (encoding === 'identity') return picture;
    return (
      picture.compressed[encoding] ??
      share(`${encoding} ${key}`, async () => {
        try {
          const body = await compressing(() => compress(picture.body, encoding));
          const made = { format: picture.format, tag: picture.tag, encoding, body };
          // Another encoding of the picture may have come into the cache in the meantime.
          const cached = cache.peek(key) ?? picture;
          cache.set(key, { ...cached, compressed: { ...cached.compressed, [encoding]: made } });
          return made;
        } catch (error) {
          if (error instanceof Fault && error.kind === 'resource_exhausted') return picture;
          throw error;
        }
      })
    );
  };

  /** Finds a picture in the encoding that the caller wants. Only SVG is compressed, since the other formats are so already. */
  const findEncoded = (
    wanted: Wanted,
    format: Format,
    acceptEncoding: string | undefined,
  ): FoundPicture | Promise<FoundPicture> => {
    const { source, size, theme } = wanted;
    const key = `${source.kind} ${idOf(source)} ${format} ${size} ${theme}`;
    const found = find(wanted, format, key);
    if (format !== 'svg') return found;
    const inEncoding = (made: Made) =>
      typeof made === 'string' ? made : encoded(made, chooseEncoding(acceptEncoding), key);
    return found instanceof Promise ? found.then(inEncoding) : inEncoding(found);
  };

  const findNegotiated = async (
    wanted: Wanted,
    id: string,
    { accept, acceptEncoding }: Accepted,
  ): Promise<FoundPicture> => {
    const forms = known.get(id) ?? (await statedForms(id));
    if (forms === 'no_image') return forms;
    return findEncoded(wanted, negotiateFormat(formFor(wanted.theme, forms).format, accept), acceptEncoding);
  };

  return {
    find: (wanted, accepted) => {
      const { source, format } = wanted;
      const { accept, acceptEncoding } = accepted;
      if (format !== undefined) return findEncoded(wanted, format, acceptEncoding);
      if (source.kind === 'monogram')
        return findEncoded(wanted, negotiateFormat('svg', accept), acceptEncoding);
      return findNegotiated(wanted, source.id, accepted);
    },
    stats: () => ({ ...counters, entries: cache.size, bytes: cache.calculatedSize }),
  };
}

function idOf(source: Wanted['source']): string {
  return source.kind === 'monogram' ? source.path : source.id;
}

function formFor(theme: Theme, { light, dark = light }: StatedForms): StatedForms['light'] {
  return theme === 'dark' ? dark : light;
}

/** Whether a worker has to draw the picture. If not, it is a stored form, or an SVG in another size. */
function isDrawn({ size, theme }: Wanted, format: Format, forms: StatedForms): boolean {
  const stored = formFor(theme, forms);
  if (format !== stored.format) return true;
  if (format === 'svg' || size === undefined || (size === SMALL_SIZE && stored === forms.light)) return false;
  return Math.max(stored.width, stored.height) > size;
}

/** Whether a picture is so often a stored one that its form is read at once, before it is known what is stored. */
function isOftenStored({ size }: Wanted, format: Format): boolean {
  return format === 'svg' || size === undefined || size === SMALL_SIZE;
}

function pictureOf({ format, bytes }: Form): Cached {
  // A copy, because the bytes may be part of a larger message, which the cache would keep.
  const body = Buffer.allocUnsafeSlow(bytes.length);
  body.set(bytes);
  const tag = tagOf(body);
  return { format, tag, encoding: 'identity', body, compressed: {} };
}
