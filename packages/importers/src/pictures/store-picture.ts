import { hash } from 'node:crypto';
import type { PutImageRequest, PutImageResponse } from '@brand-data/contracts';
import { PICTURE_FIELDS, type PictureFieldName } from '@brand-data/records';
import { Fault } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { ImagesPort } from '../framework/admin-port.ts';
import { retryWhile } from '../framework/retry.ts';
import { type Picture, PictureProblem } from './picture.ts';

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
    return await retryWhile(['unavailable', 'resource_exhausted'], () =>
      images.call((client) => client.putImage, request, PUT_MS),
    );
  } catch (error) {
    if (error instanceof Fault && error.kind === 'invalid_argument')
      throw new PictureProblem(error.message, { cause: error });
    throw error;
  }
}

/**
 * Returns a function that reads a picture and stores it. It stores equal pictures only once, and few at the same time. It resolves
 * to undefined if the signal was aborted before the picture's turn. It rejects as `storePicture`, and with a PictureProblem if the
 * picture cannot be read.
 *
 * @param images is called at the first picture, so that a source without pictures needs no address of images
 */
export function pictureStore(
  images: () => ImagesPort,
  { dryRun, signal }: { dryRun: boolean; signal: AbortSignal | undefined },
): (picture: Picture) => Promise<PutImageResponse | undefined> {
  const limit = pLimit(AT_ONCE);
  const answers = new LRUCache<string, Promise<PutImageResponse>>({ max: REMEMBERED });

  return ({ field, light, dark }) =>
    limit(async () => {
      if (signal?.aborted) return undefined;
      const [file, darkFile] = await Promise.all([light.read(), dark?.read()]);
      const key = [PICTURE_FIELDS[field].kind, digestOf(file), darkFile && digestOf(darkFile)].join(' ');
      const known = answers.get(key);
      if (known !== undefined) return known;
      const answer = storePicture(
        images(),
        field,
        { light: { $case: 'file', value: file }, darkFile },
        { dryRun },
      );
      answers.set(key, answer);
      return answer;
    });
}

function digestOf(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64');
}
