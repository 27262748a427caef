import { Brand } from '@brand-data/contracts';
import { withStoredPicture } from '@brand-data/records';
import type { ImagesPort } from '../framework/admin-port.ts';
import type { RefusedPicture, SourceItem } from '../framework/source-items.ts';
import { PictureProblem } from './picture.ts';
import { pictureStore } from './store-picture.ts';

/**
 * Returns a function that stores the pictures of a brand, as long as the signal is not aborted. It returns the brand with the fields
 * of the stored pictures, and the pictures that cannot be used. Rejects with a Fault if images does not answer for two minutes.
 */
export function pictureAdder(
  images: () => ImagesPort,
  options: { dryRun: boolean; signal: AbortSignal | undefined },
) {
  const store = pictureStore(images, options);
  return async ({ from, item, pictures = [] }: SourceItem<Brand>) => {
    const refused: RefusedPicture[] = [];
    const stored = await Promise.all(
      pictures.map(async (picture) => {
        try {
          const answer = await store(picture);
          return answer === undefined ? [] : { ...picture, answer };
        } catch (error) {
          if (!(error instanceof PictureProblem)) throw error;
          refused.push({ from, id: item.id, field: picture.field, reason: error.message });
          return [];
        }
      }),
    );
    const added = stored.flat();
    const sources = added.flatMap(({ field, light }) =>
      light.source === undefined ? [] : [{ ...light.source, date: '', fields: [field as string] }],
    );
    const brand = added.reduce<Brand>(
      (with_, { field, answer }) => withStoredPicture(with_, field, answer),
      item,
    );
    return {
      item: Brand.fromPartial({ ...brand, sources: [...brand.sources, ...sources] }),
      added: added.length,
      refused,
    };
  };
}
