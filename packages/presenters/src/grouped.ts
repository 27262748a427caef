import { type Brand, BrandType, type Image, type ImageVariants } from '@brand-data/contracts';
import { exchangeOfMic, properName, readWebHost } from '@brand-data/identifiers';
import { monogramImages, monogramOf, monogramPath } from '@brand-data/monograms';
import { brandRecord, type GroupedRecord, stockRecord, superinvestorRecord } from './grouped-schema.ts';
import { showing } from './showing.ts';

const showStock = showing(stockRecord);
const showCompany = showing(brandRecord);
const showSuperinvestor = showing(superinvestorRecord);

/** What records of an installation have in common. */
export interface PresentOptions {
  logoHost: string;
  monogramKey: string;
}

/**
 * Returns the grouped record (packages/presenters/README.md): the fields of groupedRecordSchema that have data. The brand must have a
 * type, name, description and category, as every record of the catalogue does. Throws if the type is missing. A brand of which no
 * logo is known gets a monogram (packages/monograms/README.md).
 *
 * @param options.logoHost the base URL of images ("https://api.example.com/images"), which is put before their paths
 * @param options.monogramKey the key of monograms' paths, which images has too
 */
export function presentGrouped(brand: Brand, options: PresentOptions): GroupedRecord {
  const { manager, images, links } = brand;
  const urlOf = (path = '') => imageUrl(options.logoHost, path);
  const monogram = () => variantsOf(monogramLogo(brand, options), urlOf);
  const logo = variantsOf(images?.logo, urlOf);
  const banner = { url: urlOf(images?.bannerPath) };
  const company = {
    ...brand,
    links: links && { ...links, websites: distinctWebsites(links.websites) },
  };
  switch (brand.type) {
    case BrandType.STOCK: {
      const stockLogo = variantsOf(images?.stockLogo, urlOf);
      // A listed company has a monogram only if its ticker's logo is unknown too.
      const ownLogo = logo ?? (stockLogo ? undefined : monogram());
      return showStock({
        ...company,
        type: 'stock',
        symbol: brand.listings[0]?.ticker,
        images: { logo: ownLogo, banner, stockLogo },
        stock: stockOf(brand, urlOf),
      });
    }
    case BrandType.BRAND:
      return showCompany({ ...company, type: 'brand', images: { logo: logo ?? monogram(), banner } });
    case BrandType.SUPERINVESTOR:
      return showSuperinvestor({
        ...brand,
        ...manager,
        type: 'superinvestor',
        logo: urlOf(manager?.logoPath) ?? monogram()?.big?.url,
      });
    case BrandType.UNSPECIFIED:
    case BrandType.OTHER_SECURITY:
      throw new Error(`brand ${brand.id} has no type, or is no company`);
  }
}

/** Returns the monogram that a record shows if none of its images is known. Its letters are those of the company or the manager. */
function monogramLogo({ id, type, name, manager }: Brand, { monogramKey }: PresentOptions) {
  if (type !== BrandType.SUPERINVESTOR)
    return monogramImages(monogramOf({ id, name: properName(name) }), monogramKey);
  const person = manager && !isEmptyText(manager.portfolioManager) ? manager.portfolioManager : name;
  return monogramImages(monogramOf({ id, name: person, isPerson: true }), monogramKey);
}

/** Returns the URL of a monogram of a text that finds no record. Equal texts have equal monograms, in any case. */
export function monogramUrl(text: string, { logoHost, monogramKey }: PresentOptions): string {
  const name = readWebHost(text)?.domain ?? properName(text);
  return `${logoHost}/${monogramPath(monogramOf({ id: name.toLowerCase(), name }), monogramKey)}`;
}

type UrlOf = (path?: string) => string | undefined;

/** Undefined if neither image has a path, because the size of an image that does not exist is not data. */
function variantsOf(variants: ImageVariants | undefined, urlOf: UrlOf) {
  const withUrl = (image: Image | undefined) => {
    const url = urlOf(image?.path);
    return url === undefined ? undefined : { ...image, url };
  };
  const [big, small] = [withUrl(variants?.big), withUrl(variants?.small)];
  return big || small ? { big, small } : undefined;
}

function stockOf({ stock, listings }: Brand, urlOf: UrlOf) {
  return {
    ...stock,
    exchangeLogo: urlOf(stock?.exchangeLogoPath),
    // A venue that is not in the table of exchanges is named by its MIC.
    listings: listings.map(({ mic }) => exchangeOfMic(mic)?.code ?? mic),
  };
}

/** Joins the logo host and an image's path with one slash. Undefined if the path is blank. */
function imageUrl(logoHost: string, path: string): string | undefined {
  const bare = path.replace(/^\/+/, '');
  return isEmptyText(bare) ? undefined : `${logoHost.replace(/\/+$/, '')}/${bare}`;
}

/**
 * Removes repeated URLs. Of URLs that differ only in a slash at the path's end or in the case of the host, the first one stays.
 */
function distinctWebsites(websites: readonly string[]): string[] {
  const seen = new Set<string>();
  return websites.filter((website) => seen.size < seen.add(websiteKey(website)).size);
}

function websiteKey(website: string): string {
  const url = URL.parse(website);
  if (!url) return website.replace(/\/$/, '');
  url.pathname = url.pathname.replace(/\/$/, '');
  return url.href;
}

function isEmptyText(text: string): boolean {
  return text.trim() === '';
}
