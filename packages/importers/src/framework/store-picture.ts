import { hash } from 'node:crypto';
import { Brand, type PutImageRequest, type PutImageResponse } from '@brand-data/contracts';
import { PICTURE_FIELDS, type PictureFieldName, withStoredPicture } from '@brand-data/records';
import { Fault } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { type ImagesPort, retryWhileUnavailable } from './admin-port.ts';
import type { ImportJournal } from './import-journal.ts';
import { type BrandPicture, PictureProblem, type RefusedPicture, type SourceItem } from './source-items.ts';

const PUT_MS = 20_000;
/** How many pictures are read and uploaded at once. Each may have 8 MiB. */
const AT_ONCE = 8;
/** The most answers to remember, of less than 1 KB each. */
const REMEMBERED = 20_000;

/**
 * Stores a picture. Retries for up to two minutes while images does not answer or is too busy. Rejects with a PictureProblem if
 * images refuses the picture, and otherwise with a Fault.
 */
export async function storePicture(
  images: ImagesPort,
  field: PictureFieldName,
  picture: Pick<PutImageRequest, 'light' | 'darkFile'>,
  { dryRun = false } = {},
): Promise<PutImageResponse> {
  const request: PutImageRequest = { kind: PICTURE_FIELDS[field].kind, ...picture, dryRun };
  try {
    return await retryWhileUnavailable(
      () => images.call((client) => client.putImage, request, PUT_MS),
      ['unavailable', 'resource_exhausted'],
    );
  } catch (error) {
    if (error instanceof Fault && error.kind === 'invalid_argument')
      throw new PictureProblem(error.message, { cause: error });
    throw error;
  }
}

interface StoreOptions {
  dryRun?: boolean;
  /** When it is aborted, no more pictures are stored. */
  signal?: AbortSignal | undefined;
  journal: ImportJournal;
}

/** Stores the pictures of an import's brands: equal pictures once, and few at the same time. */
export class PictureStore {
  readonly #images: () => ImagesPort;
  readonly #options: StoreOptions;
  readonly #limit = pLimit(AT_ONCE);
  readonly #answers = new LRUCache<string, Promise<PutImageResponse>>({ max: REMEMBERED });

  constructor(images: () => ImagesPort, options: StoreOptions) {
    this.#images = images;
    this.#options = options;
  }

  /**
   * Stores the pictures of a brand. Returns the brand with the fields of the stored pictures. The journal takes those that cannot
   * be used. Rejects with a Fault if images does not answer for two minutes.
   */
  async addTo({ from, item, pictures = [] }: SourceItem<Brand>): Promise<Brand> {
    const { journal } = this.#options;
    const refused: RefusedPicture[] = [];
    const stored = await Promise.all(
      pictures.map(async (picture) => {
        try {
          const answer = await this.#limit(() => this.#store(picture));
          return answer === undefined ? [] : { ...picture, answer };
        } catch (error) {
          if (!(error instanceof PictureProblem)) throw error;
          refused.push({ from, id: item.id, picture: picture.field, reason: error.message });
          return [];
        }
      }),
    );
    const added = stored.flat();
    journal.counts.pictures += added.length;
    for (const each of refused) await journal.refusePicture(each);
    const sources = added.flatMap(({ field, light }) =>
      light.source === undefined ? [] : [{ ...light.source, date: '', fields: [field as string] }],
    );
    const brand = added.reduce<Brand>(
      (with_, { field, answer }) => withStoredPicture(with_, field, answer),
      item,
    );
    return Brand.fromPartial({ ...brand, sources: [...brand.sources, ...sources] });
  }

  /** Reads and stores a picture. Resolves to undefined if the signal was aborted before the picture's turn. */
  async #store({ field, light, dark }: BrandPicture): Promise<PutImageResponse | undefined> {
    if (this.#options.signal?.aborted) return undefined;
    const [file, darkFile] = await Promise.all([light.read(), dark?.read()]);
    const digests = [file, darkFile].map((bytes) => bytes && hash('sha256', bytes, 'base64'));
    const key = [PICTURE_FIELDS[field].kind, ...digests].join(' ');
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const picture = { light: { $case: 'file' as const, value: file }, darkFile };
    const answer = storePicture(this.#images(), field, picture, this.#options);
    this.#answers.set(key, answer);
    return answer;
  }
}
