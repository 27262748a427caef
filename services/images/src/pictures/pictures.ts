import { Fault, readAtScrape, type Service } from '@brand-data/runtime';
import { chooseEncoding, compress, type Encoding } from '@brand-data/runtime/http';
import { LRUCache } from 'lru-cache';
import { Counter, Gauge } from 'prom-client';
import type { Format, Wanted } from '../image/image.ts';
import type { ImageStore } from '../store/store.ts';
import type { Workers } from '../workers/workers.ts';
import { negotiateFormat } from './negotiate.ts';
import {
  type MadePicture,
  type NoPicture,
  PictureMaker,
  type PictureOrder,
  pictureOrder,
  type ServedPicture,
} from './picture-maker.ts';
import { type Clients, createLimiter, SharedWork } from './turns.ts';

/** Bounds of the drawings that are compressed: one a thread of Node's pool, and at most 1 MiB in memory for each that waits. */
const COMPRESSION_TURNS = { most: 4, mostWaiting: 60, waitMs: 3_000 };
/** A picture's key, tag and objects. */
const ENTRY_OVERHEAD_BYTES = 1_024;

/** Who asks, and what this caller accepts. */
interface Caller {
  /** Decides the format if the URL names none. */
  accept?: string | undefined;
  /** Decides the encoding of an SVG. */
  acceptEncoding?: string | undefined;
  /** The network of the caller's address. Clients share the turns equally. */
  client: string;
}

/** A picture in the cache: as it is, and an SVG also in each encoding from the first time that a caller accepted it. */
type Cached = { identity: ServedPicture } & Partial<Record<Encoding, ServedPicture>>;

/** Finds pictures and caches them, up to a number of bytes. Requests for a picture that is being made wait for it together. */
export class Pictures {
  readonly #maker: PictureMaker;
  readonly #cache: LRUCache<string, Cached>;
  readonly #making = new SharedWork<Cached | NoPicture>();
  readonly #compressions = new SharedWork<ServedPicture>();
  readonly #compressing = createLimiter(COMPRESSION_TURNS);
  /** `joined`: requests that waited for a picture that was being made already. */
  readonly #counters = { hits: 0, joined: 0, misses: 0 };

  constructor(
    store: Pick<ImageStore, 'findForm' | 'findStated'>,
    workers: Pick<Workers, 'render'>,
    { cacheBytes, ...drawing }: { cacheBytes: number } & ConstructorParameters<typeof PictureMaker>[2],
  ) {
    this.#maker = new PictureMaker(store, workers, drawing);
    this.#cache = new LRUCache({
      maxSize: cacheBytes,
      sizeCalculation: (pictures, key) =>
        Object.values(pictures).reduce(
          (bytes, { body }) => bytes + body.length + ENTRY_OVERHEAD_BYTES,
          key.length * 2,
        ),
    });
  }

  /**
   * Returns a picture that is in the cache at once. Rejects or throws Fault `unavailable` if the database does not answer,
   * `resource_exhausted` if too many pictures wait to be made, `failed_precondition` if the picture cannot be drawn within the
   * bounds of a worker.
   */
  find(wanted: Wanted, caller: Caller): MadePicture | Promise<MadePicture> {
    const { source, format, theme } = wanted;
    if (format !== undefined) return this.#findIn(format, wanted, caller);
    const negotiated = (stored: Format) =>
      this.#findIn(negotiateFormat(stored, caller.accept), wanted, caller);
    if (source.kind === 'monogram') return negotiated('svg');
    return this.#maker
      .storedFormat(source.id, theme, caller.client)
      .then((stored) => (stored === 'no_image' ? stored : negotiated(stored)));
  }

  /** Returns the counters since the start of the process, and the size of the cache. */
  stats() {
    return { ...this.#counters, entries: this.#cache.size, bytes: this.#cache.calculatedSize };
  }

  /** Finds a picture in the encoding that the caller wants. Only SVG is compressed, since the other formats are so already. */
  #findIn(
    format: Format,
    wanted: Wanted,
    { acceptEncoding, client }: Caller,
  ): MadePicture | Promise<MadePicture> {
    const order = pictureOrder(wanted, format);
    const encoding = format === 'svg' ? chooseEncoding(acceptEncoding) : 'identity';
    const encoded = (found: Cached | NoPicture) =>
      typeof found === 'string'
        ? found
        : (found[encoding] ??
          this.#compressions.share(`${encoding} ${order.key}`, client, (clients) =>
            this.#compress(found, encoding, { key: order.key, clients }),
          ));
    const found = this.#lookUp(order, client);
    return found instanceof Promise ? found.then(encoded) : encoded(found);
  }

  #lookUp(order: PictureOrder, client: string): Cached | NoPicture | Promise<Cached | NoPicture> {
    const { key } = order;
    const cached = this.#cache.get(key);
    if (cached) {
      this.#counters.hits += 1;
      return cached;
    }
    const absence = this.#maker.knownAbsence(order);
    if (absence) return absence;
    if (this.#making.isUnderWay(key)) this.#counters.joined += 1;
    else this.#counters.misses += 1;
    return this.#making.share(key, client, async (clients) => {
      const made = await this.#maker.make(order, clients);
      if (typeof made === 'string') return made;
      const entry = { identity: made };
      this.#cache.set(key, entry);
      return entry;
    });
  }

  /** Returns the picture in an encoding. If too many wait to be compressed, it is the picture as it is. */
  async #compress(
    found: Cached,
    encoding: Encoding,
    { key, clients }: { key: string; clients: Clients },
  ): Promise<ServedPicture> {
    const { identity } = found;
    if (encoding === 'identity') return identity;
    try {
      const body = await this.#compressing(clients, () => compress(identity.body, encoding));
      const made = { ...identity, encoding, body };
      // Another encoding of the picture may have come into the cache in the meantime.
      this.#cache.set(key, { ...(this.#cache.peek(key) ?? found), [encoding]: made });
      return made;
    } catch (error) {
      if (error instanceof Fault && error.kind === 'resource_exhausted') return identity;
      throw error;
    }
  }
}

/** Registers the metrics of the cache of pictures, which are read at each scrape. */
export function registerPictureMetrics(
  { metrics }: Pick<Service, 'metrics'>,
  pictures: Pick<Pictures, 'stats'>,
): void {
  const requests = {
    name: 'images_cache_requests_total',
    help: 'Requests for a picture. "hit": the cache had it. "joined": it was being made already. "miss": it had to be made',
    labelNames: ['result'],
  };
  readAtScrape(Counter, metrics, requests, () => {
    const { hits: hit, joined, misses: miss } = pictures.stats();
    return Object.entries({ hit, joined, miss }).map(([result, count]) => [{ result }, count]);
  });
  const entries = { name: 'images_cache_entries', help: 'Pictures that the cache holds now' };
  readAtScrape(Gauge, metrics, entries, () => [[{}, pictures.stats().entries]]);
  const size = { name: 'images_cache_size_bytes', help: 'Bytes that the pictures in the cache take now' };
  readAtScrape(Gauge, metrics, size, () => [[{}, pictures.stats().bytes]]);
}
