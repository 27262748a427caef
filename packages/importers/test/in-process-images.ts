import { hash } from 'node:crypto';
import type { ImagesAdminServiceClient, PutImageRequest, PutImageResponse } from '@brand-data/contracts';
import { Treatment } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import type { ImagesPort } from '../src/index.ts';

export interface InProcessImages extends ImagesPort {
  /** All requests that were answered. */
  puts: PutImageRequest[];
  /** How many requests were under way at most at the same time. */
  mostAtOnce: number;
}

/** A file that `inProcessImages` refuses. */
export const REFUSED_FILE = 'refused';

/**
 * Answers PutImage as images does, without storing or decoding anything.
 *
 * @param failures faults of the first calls, each thrown once
 */
export function inProcessImages({ failures = [] as Fault[] } = {}): InProcessImages {
  let atOnce = 0;
  const images: InProcessImages = {
    puts: [],
    mostAtOnce: 0,
    async call(method, request) {
      const client = { putImage: putImage } as unknown as ImagesAdminServiceClient;
      const put = method(client) as unknown as (request: unknown) => unknown;
      images.mostAtOnce = Math.max(images.mostAtOnce, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
      return put(request) as never;
    },
  };
  return images;

  function putImage(request: PutImageRequest): PutImageResponse {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    const file = request.light?.$case === 'file' ? request.light.value : Buffer.from('stored');
    if (file.toString() === REFUSED_FILE)
      throw new Fault('invalid_argument', 'the file is no picture: send SVG, PNG, WebP, AVIF, JPEG or GIF');
    images.puts.push(request);
    const path = pathOf(request);
    const figures = { width: 512, height: 512, format: 'svg', sizeKb: 1 };
    return {
      big: { path, ...figures },
      small: { path: `${path}?size=64`, ...figures, width: 64, height: 64 },
      lightTreatment: Treatment.AS_GIVEN,
      darkTreatment: Treatment.PLATE,
    };
  }
}

/** Returns the path that `inProcessImages` gives a picture. */
function pathOf({ kind, light, darkFile }: Pick<PutImageRequest, 'kind' | 'light' | 'darkFile'>): string {
  const digest = hash('sha256', `${kind} ${light?.value.toString()} ${darkFile?.toString() ?? ''}`);
  return `logos/${digest.slice(0, 32)}.svg`;
}
