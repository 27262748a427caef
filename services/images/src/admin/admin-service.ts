import {
  type Image,
  ImageKind,
  type ImagesAdminServiceServer,
  type PutImageRequest,
  Treatment,
} from '@brand-data/contracts';
import {
  clientStream,
  countBy,
  Fault,
  operatorCallOf,
  type Service,
  type Trail,
  unary,
} from '@brand-data/runtime';
import { type Form, type PictureKind, SMALL_SIZE, type Treatment as Treated } from '../image/image.ts';
import type { ImageStore } from '../store/store.ts';
import type { Workers } from '../workers/workers.ts';
import { type Given, putImage } from './put.ts';
import { sweepImages } from './sweep.ts';

const TREATMENTS: Record<Treated, Treatment> = {
  as_given: Treatment.AS_GIVEN,
  recoloured: Treatment.RECOLOURED,
  plate: Treatment.PLATE,
};

/** Returns the gRPC service for operators. See proto/brand_data/v1/images.proto for messages and errors. */
export function imagesAdminService(
  service: Service,
  store: ImageStore,
  workers: Workers,
  trail: Trail,
): ImagesAdminServiceServer {
  const countSweep = countBy(service.metrics, {
    name: 'images_sweeps_total',
    help: 'Sweeps of the images that no record names, by result',
    label: 'result',
    values: ['done', 'failed'],
  });
  return {
    putImage: unary(service, async (request, metadata) => {
      const given = { kind: kindOf(request), light: givenOf(request), dark: request.darkFile };
      const put = () => putImage({ store, workers, nowMs: Date.now }, { ...given, isDryRun: request.dryRun });
      const call = operatorCallOf(metadata);
      // All images of one run of `bds` share an entry: an import may bring a million.
      const told = { method: 'PutImage', about: [], details: {}, sharedBy: call.requestId };
      const image = await (request.dryRun ? put() : trail.record(call, told, put));
      const { id, light, small, treatments } = image;
      return {
        big: imageToProto(`${id}.${light.format}`, light),
        small: imageToProto(`${id}.${light.format}?size=${SMALL_SIZE}`, small),
        lightTreatment: TREATMENTS[treatments.light],
        darkTreatment: TREATMENTS[treatments.dark],
      };
    }),

    countImages: unary(service, async () => ({ images: await store.countImages() })),

    sweepImages: clientStream(service, async (requests, metadata) => {
      try {
        const swept = await trail.record(
          operatorCallOf(metadata),
          { method: 'SweepImages', about: [], details: {} },
          () => sweepImages(store, requests, Date.now),
          ({ named, unnamed, removed }) => ({ named, unnamed, removed }),
        );
        const { named, unnamed, removed, missing } = swept;
        countSweep('done');
        service.log.info({ named, unnamed, removed, missing: missing.length }, 'swept');
        return swept;
      } catch (error) {
        countSweep('failed');
        throw error;
      }
    }),
  };
}

const KINDS: Partial<Record<ImageKind, PictureKind>> = {
  [ImageKind.LOGO]: 'logo',
  [ImageKind.BANNER]: 'banner',
  [ImageKind.EXCHANGE]: 'exchange',
};

function kindOf({ kind }: PutImageRequest): PictureKind {
  const known = KINDS[kind];
  if (known !== undefined) return known;
  throw new Fault('invalid_argument', 'say what kind of image it is: logo, banner or exchange');
}

function givenOf({ light }: PutImageRequest): Given {
  if (!light) throw new Fault('invalid_argument', 'give the file, or the path of a stored image');
  return light.$case === 'file' ? { file: light.value } : { storedPath: light.value };
}

/** The size is in kilobytes of 1024 bytes, with two decimals. */
function imageToProto(path: string, { width, height, format, bytes }: Form): Image {
  return { path, width, height, format, sizeKb: Math.round((bytes.length / 1024) * 100) / 100 };
}
