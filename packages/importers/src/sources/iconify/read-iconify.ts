import { Brand } from '@brand-data/contracts';
import { slugOf } from '@brand-data/records';
import type { ReadItem } from '../../framework/source-items.ts';
import { iconifyPicture } from '../../pictures/icons.ts';
import COMPANIES from './companies.json' with { type: 'json' };

/**
 * Yields the companies whose marks are in Iconify's sets, each with its mark as logo. The sets know only slugs, most of them of products
 * and programs, so a person has compared each mark of `companies.json` with the company's. All other icons are left out. Where a set
 * has a mark and a word mark of the company, the list names the mark, which fits into a square.
 */
export async function* readIconify(): AsyncGenerator<ReadItem<Brand>> {
  for (const [icon, [name = '', host]] of Object.entries(COMPANIES)) {
    const { source, ...light } = iconifyPicture(icon);
    const brand = Brand.fromPartial({
      id: slugOf(name),
      name,
      links: { websites: [`https://${host}/`] },
      sources: [{ ...source, fields: ['images.logo'] }],
    });
    yield { from: icon, item: brand, pictures: [{ field: 'images.logo', light }] };
  }
}
