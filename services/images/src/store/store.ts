import { answerWithin, type Mongo, openDatabase, type Service } from '@brand-data/runtime';
import type { Collection, Document, Filter } from 'mongodb';
import type { Form, Theme, Treatment } from '../image/image.ts';

const ANSWER_WITHIN_MS = 5_000;

/** A stored image. Only `putAt` and `unnamedSince` ever change. */
export interface StoredImage {
  /** Folder and content hash: "logos/0123…". */
  id: string;
  light: Form;
  /** Absent if the light form serves dark pages too. */
  dark: Form | undefined;
  /** The light form with its longer side bounded to SMALL_SIZE. It is stored so that its bytes never change. */
  small: Form;
  treatments: Record<'light' | 'dark', Treatment>;
}

/** When an image was last put, and the time of the first sweep since then that found no record naming it. */
type ImageUse = { id: string; putAt: Date; unnamedSince: Date | undefined };

/** The format and size of the form for light pages, and of the form for dark pages if the image has a separate one. */
export interface StatedForms {
  light: Omit<Form, 'bytes'>;
  dark?: Omit<Form, 'bytes'> | undefined;
}

/** Reads `StatedForms`. */
const STATED = Object.fromEntries(
  ['light', 'dark'].flatMap((form) => ['format', 'width', 'height'].map((field) => [`${form}.${field}`, 1])),
);

interface ImageDoc extends Omit<StoredImage, 'id'> {
  _id: string;
  /** The hash of the files of the last put: if they are put again, the image need not be made again. */
  given?: string;
  putAt: Date;
  /** Absent while the last sweep found a record that names the image. */
  unnamedSince?: Date;
}

/** This index holds all fields that a sweep reads, so that a sweep reads no pictures. */
const USE_INDEX = { _id: 1, putAt: 1, unnamedSince: 1 } as const;

/** Connects to the database, and creates its indexes or brings them up to date. */
export function openStorage(
  service: Service,
  config: Parameters<typeof openDatabase>[1],
): Promise<ImageStore> {
  // Without the database, cached pictures and monograms are still answered. The service stays ready, because a load balancer
  // would otherwise stop sending those requests.
  return openDatabase(service, config, openImageStore, { isNeededAlways: false });
}

/** Creates the indexes, which any replica may do at any time. Every query uses one of them, or _id. */
export async function openImageStore({ db }: Mongo): Promise<ImageStore> {
  const images = db.collection<ImageDoc>('images', { promoteBuffers: true });
  await images.createIndex(USE_INDEX);
  await images.createIndex({ given: 1 });
  return new ImageStore(images);
}

/**
 * Every operation rejects with Fault `unavailable` while the database cannot be reached. Just after an election, a read may show
 * the state of a second ago. Therefore each write states the condition on which it depends.
 */
export class ImageStore {
  readonly #images: Collection<ImageDoc>;

  constructor(images: Collection<ImageDoc>) {
    this.#images = images;
  }

  /** Returns how many images are stored, by the collection's metadata: after a crash of MongoDB it may be a little off. */
  countImages(): Promise<number> {
    return withDeadline(this.#images.estimatedDocumentCount());
  }

  /**
   * Stores an image, or notes that it was put again. Returns the stored small form, which is that of the first put. The light and
   * dark forms always equal those of `image`, because the id is their hash.
   *
   * @param given the hash of the files from which the image was made
   */
  async put({ id, light, dark, small, treatments }: StoredImage, now: Date, given?: string): Promise<Form> {
    const doc = await withDeadline(
      this.#images.findOneAndUpdate(
        { _id: id },
        {
          $set: { putAt: now, ...(given !== undefined && { given }) },
          $unset: { unnamedSince: '' },
          $setOnInsert: { light, dark, small, treatments },
        },
        { upsert: true, returnDocument: 'after', projection: { small: 1 } },
      ),
    );
    if (!doc) throw new Error('an upsert has returned no document');
    return doc.small;
  }

  async find(wanted: Wanted): Promise<StoredImage | undefined> {
    const doc = await withDeadline(this.#images.findOne(wanted));
    return doc ? imageFromDoc(doc) : undefined;
  }

  /** Notes that a stored image was put again, and returns the image. Undefined if it does not exist. */
  async putAgain(wanted: Wanted, now: Date): Promise<StoredImage | undefined> {
    const doc = await withDeadline(
      this.#images.findOneAndUpdate(
        wanted,
        { $set: { putAt: now }, $unset: { unnamedSince: '' } },
        { returnDocument: 'after' },
      ),
    );
    return doc ? imageFromDoc(doc) : undefined;
  }

  /** Returns the form for a theme, and the small form if it was made from that one. Undefined if no image has the id. */
  async findForm(
    id: string,
    theme: Theme,
  ): Promise<{ form: Form; small?: Form | undefined; stated: StatedForms } | undefined> {
    const chosen =
      theme === 'light'
        ? { form: '$light', small: 1 }
        : {
            form: { $ifNull: ['$dark', '$light'] },
            small: { $cond: [{ $ifNull: ['$dark', false] }, '$$REMOVE', '$small'] },
          };
    const doc = await this.#read<StatedForms & { form: Form; small?: Form }>(id, { ...STATED, ...chosen });
    return doc && { form: doc.form, small: doc.small, stated: { light: doc.light, dark: doc.dark } };
  }

  /** Returns the formats and sizes of an image's forms, without reading their bytes. Undefined if no image has the id. */
  async findStated(id: string): Promise<StatedForms | undefined> {
    const doc = await this.#read<StatedForms>(id, STATED);
    return doc && { light: doc.light, dark: doc.dark };
  }

  /** The content of a URL never changes. Therefore any member may answer while there is no primary. */
  async #read<Part extends Document>(id: string, projection: Document): Promise<Part | undefined> {
    const options = { projection, readPreference: 'primaryPreferred' } as const;
    return (await withDeadline(this.#images.findOne<Part>({ _id: id }, options))) ?? undefined;
  }

  /** Returns the use of each of these images that is stored. */
  readUseOf(ids: readonly string[]): Promise<ImageUse[]> {
    return this.#readUse({ _id: { $in: ids } }, ids.length);
  }

  /** Returns the use of up to `most` images, in the order of their ids, beginning after the id `after`. */
  listUse(after: string, most: number): Promise<ImageUse[]> {
    return this.#readUse({ _id: { $gt: after } }, most);
  }

  /** Notes that a record names the images. */
  async markNamed(ids: readonly string[]): Promise<void> {
    await withDeadline(
      this.#images.updateMany(
        // With $exists, MongoDB would read the pictures.
        { _id: { $in: ids }, unnamedSince: { $gt: new Date(0) } },
        { $unset: { unnamedSince: '' } },
        { hint: USE_INDEX },
      ),
    );
  }

  /** Notes since when no record has named the images. Skips images that were put at this time or later. */
  async markUnnamed(ids: readonly string[], since: Date): Promise<void> {
    await withDeadline(
      this.#images.updateMany(
        { _id: { $in: ids }, unnamedSince: { $exists: false }, putAt: { $lt: since } },
        { $set: { unnamedSince: since } },
      ),
    );
  }

  /** Removes those of the images that no record has named since `cutoff` or longer. Returns how many it removed. */
  async removeUnnamed(ids: readonly string[], cutoff: Date): Promise<number> {
    const { deletedCount } = await withDeadline(
      this.#images.deleteMany({ _id: { $in: ids }, unnamedSince: { $lte: cutoff } }),
    );
    return deletedCount;
  }

  async #readUse(filter: Filter<ImageDoc>, most: number): Promise<ImageUse[]> {
    const options = { projection: USE_INDEX, sort: { _id: 1 }, hint: USE_INDEX, limit: most } as const;
    const found = await withDeadline(this.#images.find(filter, options).toArray());
    return found.map(({ _id, putAt, unnamedSince }) => ({
      id: _id,
      putAt,
      // A missing field is null in an index.
      unnamedSince: unnamedSince ?? undefined,
    }));
  }
}

/** Names an image by its id, or by the hash of the files of its last put. */
type Wanted = { _id: string } | { given: string };

function imageFromDoc({ _id, light, dark, small, treatments }: ImageDoc): StoredImage {
  return { id: _id, light, dark, small, treatments };
}

function withDeadline<T>(answer: Promise<T>): Promise<T> {
  return answerWithin(answer, {
    withinMs: ANSWER_WITHIN_MS,
    detail: 'the images database does not answer; a change may or may not have been made: try again',
  });
}
