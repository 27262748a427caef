import { createHash } from 'node:crypto';
import { Fault } from '@brand-data/runtime';
import { FOLDERS, type Form, imageIdOfPath, type PictureKind, SMALL_SIZE } from '../image/image.ts';
import type { ImageStore, StoredImage } from '../store/store.ts';
import type { Workers } from '../workers/workers.ts';

const MOST_FILE_BYTES = 4 * 1024 ** 2;
/** MongoDB stores documents of at most 16 MiB. */
const MOST_STORED_BYTES = 15 * 1024 ** 2;
const HASH_DIGITS = 32;

/** The form for light pages that an operator gives: a file, or the path of an image that is stored already. */
export type Given = { file: Uint8Array } | { storedPath: string };

export interface PutOptions {
  kind: PictureKind;
  light: Given;
  /** The form for dark pages. Undefined: it is made from the light one. */
  dark: Uint8Array | undefined;
  /** Whether to store nothing. */
  isDryRun?: boolean;
}

/** Makes an image of files and stores it, in one write at the end. Any number of calls with the same files store one image. */
export async function putImage(
  { store, workers, nowMs }: { store: ImageStore; workers: Workers; nowMs: () => number },
  { kind, light, dark, isDryRun = false }: PutOptions,
): Promise<StoredImage> {
  const put = async (image: StoredImage, given?: string): Promise<StoredImage> =>
    isDryRun ? image : { ...image, small: await store.put(image, new Date(nowMs()), given) };
  const find = (wanted: { _id: string } | { given: string }) =>
    isDryRun ? store.find(wanted) : store.putAgain(wanted, new Date(nowMs()));
  if (dark) requireFile('the dark file', dark);
  if ('file' in light) {
    requireFile('the file', light.file);
    const given = hashOfFiles(kind, light.file, dark);
    return (await find({ given })) ?? put(await makeImage(workers, kind, light.file, dark), given);
  }
  const id = imageIdOfPath(light.storedPath);
  if (!id?.startsWith(`${FOLDERS[kind]}/`))
    throw refused(
      `the stored path of this kind of image looks like ${FOLDERS[kind]}/, 32 hexadecimal digits, and an extension`,
    );
  const stored = await find({ _id: id });
  if (!stored) throw new Fault('not_found', 'no image has the stored path: put its file instead');
  if (!dark) return stored;
  const image = await makeImage(workers, kind, stored.light.bytes, dark, true);
  // The stored light form has been treated before, so now it is as given.
  return put({ ...image, treatments: { ...image.treatments, light: stored.treatments.light } });
}

function refused(why: string): Fault {
  return new Fault('invalid_argument', why);
}

function requireFile(what: string, { length }: Uint8Array): void {
  if (length === 0) throw refused(`${what} is empty`);
  if (length > MOST_FILE_BYTES) throw refused(`${what} has ${length} bytes: give at most ${MOST_FILE_BYTES}`);
}

async function makeImage(
  workers: Workers,
  kind: PictureKind,
  file: Uint8Array,
  darkFile: Uint8Array | undefined,
  isStored = false,
): Promise<StoredImage> {
  const { light, dark, treatments } = await workers.ingest(file, { kind, dark: darkFile, isStored });
  const small = await drawSmall(workers, light);
  const storedBytes = light.bytes.length + (dark?.bytes.length ?? 0) + small.bytes.length;
  if (storedBytes > MOST_STORED_BYTES)
    throw refused(
      `its forms for light and dark pages have ${storedBytes} bytes in all: give a smaller or simpler image`,
    );
  return { id: `${FOLDERS[kind]}/${hashOf(kind, light, dark)}`, light, dark, small, treatments };
}

/** Refuses a picture that cannot be drawn like a file that cannot be read, so that an import goes on without it. */
async function drawSmall(workers: Workers, light: Form): Promise<Form> {
  try {
    return await workers.render(light, { size: SMALL_SIZE, format: light.format });
  } catch (error) {
    throw error instanceof Fault && error.kind === 'failed_precondition' ? refused(error.message) : error;
  }
}

/**
 * Increase it when `Workers.ingest` makes something else of a file or SMALL_SIZE changes. Otherwise a file that is put again keeps
 * the image that an earlier version has made of it.
 */
const INGEST_VERSION = 3;

/** Returns the hash of all that determines the image that is made of files. */
function hashOfFiles(kind: PictureKind, light: Uint8Array, dark: Uint8Array | undefined): string {
  const head = `${INGEST_VERSION} ${kind} ${light.length} ${dark?.length}\n`;
  const hash = createHash('sha256').update(head).update(light);
  return (dark ? hash.update(dark) : hash).digest('base64url');
}

/** Returns the hash of everything that the URLs of an image can lead to. */
function hashOf(kind: PictureKind, light: Form, dark: Form | undefined): string {
  const hash = createHash('sha256').update(kind);
  // With the lengths, no two images are hashed as the same bytes.
  for (const form of dark ? [light, dark] : [light])
    hash.update(`\n${form.format} ${form.bytes.length}\n`).update(form.bytes);
  return hash.digest('hex').slice(0, HASH_DIGITS);
}
