import { type Brand, BrandType } from '@brand-data/contracts';
import { properName } from '@brand-data/identifiers';
import { type MonogramImage, monogramImages, monogramOf } from '@brand-data/monograms';
import { isEmptyText } from './compact.ts';

/**
 * Returns the monogram that a record shows if none of its images is known. Its letters are those of the company or the manager.
 */
export function monogramLogo({ id, type, name, manager }: Brand): {
  big: MonogramImage;
  small: MonogramImage;
} {
  if (type !== BrandType.SUPERINVESTOR) return monogramImages(monogramOf({ id, name: properName(name) }));
  const person =
    manager === undefined || isEmptyText(manager.portfolioManager) ? name : manager.portfolioManager;
  return monogramImages(monogramOf({ id, name: person, isPerson: true }));
}
