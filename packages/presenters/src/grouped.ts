import {
  type Brand,
  BrandType,
  type Company,
  type Image,
  type Images,
  type ImageVariants,
} from '@brand-data/contracts';
import { exchangeOfMic, properName, readWebHost } from '@brand-data/identifiers';
import { monogramImages, monogramOf, monogramPath } from '@brand-data/monograms';
import type { CompanyRecord, GroupedRecord, StockRecord, SuperinvestorRecord } from './grouped-schema.ts';

type Group<Name extends keyof StockRecord> = Draft<NonNullable<StockRecord[Name]>>;
type Groups = Draft<
  Pick<StockRecord, 'company' | 'ownership' | 'offerings' | 'history' | 'transport' | 'links'>
>;

/** What records of an installation have in common. */
export interface PresentOptions {
  logoHost: string;
  monogramKey: string;
}

/**
 * Returns the grouped record (packages/presenters/README.md). Fields without data are left out at every depth, and keys have the
 * order of groupedRecordSchema. The brand must have a type, name, description and category, as every record of the catalogue
 * does. Throws if the type is missing. A brand of which no logo is known gets a monogram (packages/monograms/README.md).
 *
 * @param options.logoHost the base URL of images ("https://api.example.com/images"), which is put before their paths
 * @param options.monogramKey the key of monograms' paths, which images has too
 */
export function presentGrouped(brand: Brand, options: PresentOptions): GroupedRecord {
  const { logoHost } = options;
  const { name, description, category, images, manager } = brand;
  switch (brand.type) {
    case BrandType.STOCK:
      return compact<StockRecord>({
        type: 'stock',
        name,
        symbol: brand.listings[0]?.ticker,
        description,
        category,
        ...groupsOf(brand),
        images: stockImagesOf(brand, options),
        stock: stockOf(brand, logoHost),
      });
    case BrandType.BRAND:
      return compact<CompanyRecord>({
        type: 'brand',
        name,
        description,
        category,
        ...groupsOf(brand),
        images: {
          logo: logoOf(images?.logo, logoHost) ?? logoOf(monogramLogo(brand, options), logoHost),
          banner: bannerOf(images, logoHost),
        },
      });
    case BrandType.SUPERINVESTOR:
      return compact<SuperinvestorRecord>({
        type: 'superinvestor',
        name,
        description,
        category,
        portfolio_manager: manager?.portfolioManager,
        firm: manager?.firm,
        portfolio_manager_source: manager?.portfolioManagerSource,
        logo:
          imageUrl(logoHost, manager?.logoPath ?? '') ??
          imageUrl(logoHost, monogramLogo(brand, options).big.path),
      });
    case BrandType.UNSPECIFIED:
    case BrandType.OTHER_SECURITY:
      throw new Error(`brand ${brand.id} has no type, or is no company`);
  }
}

function groupsOf({ company, ownership, offerings, history, transport, links }: Brand): Groups {
  return {
    company: company && companyOf(company),
    ownership: ownership && {
      owner: ownership.owner,
      parent_company: ownership.parentCompany,
      subsidiaries: ownership.subsidiaries,
      divisions: ownership.divisions,
    },
    offerings: offerings && {
      products: offerings.products,
      services: offerings.services,
      brands: offerings.brands,
    },
    history: history && {
      formerly: history.formerly,
      predecessor: history.predecessor,
      successor: history.successor,
      defunct: oneOrMany(history.defunct),
      fate: oneOrMany(history.fate),
      ceased_operations: oneOrMany(history.ceasedOperations),
    },
    transport: transport && {
      hubs: transport.hubs,
      focus_cities: transport.focusCities,
      fleet_size: transport.fleetSize,
    },
    links: links && {
      websites: distinctWebsites(links.websites),
      wikipedia: links.wikipedia,
      wikidata_qid: links.wikidataQid,
      social_media: links.socialMedia.map(({ name, url }) => ({ name, url })),
    },
  };
}

function companyOf(company: Company): Group<'company'> {
  const { headquarters } = company;
  return {
    industry: company.industry,
    sector: company.sector,
    industries: company.industries,
    company_type: company.companyType,
    founded: company.founded,
    founders: company.founders,
    ceo: company.ceo,
    key_people: company.keyPeople.map(({ name, role }) => ({ name, role })),
    employees: company.employees,
    number_of_locations: company.numberOfLocations,
    headquarters: headquarters && {
      city: headquarters.city,
      state: headquarters.state,
      country: headquarters.country,
      countryCode: headquarters.countryCode,
      latitude: headquarters.latitude,
      longitude: headquarters.longitude,
      cityNative: headquarters.cityNative,
      stateNative: headquarters.stateNative,
      countryNative: headquarters.countryNative,
    },
    area_served: company.areaServed,
  };
}

/** For fields of type "string or string[]": a single value is not put into a list. */
function oneOrMany(values: readonly string[]): string | string[] | undefined {
  const facts = [...new Set(values)].filter((value) => !isEmptyText(value));
  return facts.length === 1 ? facts[0] : facts;
}

/** A listed company has a monogram only if its ticker's logo is unknown too. */
function stockImagesOf(brand: Brand, options: PresentOptions): Group<'images'> {
  const { logoHost } = options;
  const { images } = brand;
  const logo = logoOf(images?.logo, logoHost);
  const stockLogo = variantsOf(images?.stockLogo, (image) => stockImageOf(image, logoHost));
  return {
    logo: logo ?? (stockLogo ? undefined : logoOf(monogramLogo(brand, options), logoHost)),
    banner: bannerOf(images, logoHost),
    stock_logo: stockLogo,
  };
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

function bannerOf(images: Images | undefined, logoHost: string) {
  return images && { url: imageUrl(logoHost, images.bannerPath) };
}

function logoOf(logo: ImageVariants | undefined, logoHost: string) {
  return variantsOf(logo, (image) => logoImageOf(image, logoHost));
}

/** Undefined if neither image has a path. */
function variantsOf<T>(variants: ImageVariants | undefined, imageOf: (image: Image) => T | undefined) {
  const big = variants?.big && imageOf(variants.big);
  const small = variants?.small && imageOf(variants.small);
  return big || small ? { big, small } : undefined;
}

/** Undefined if the image has no path, because the size of an image that does not exist is not data. */
function stockImageOf({ path, width, height, format }: Image, logoHost: string) {
  const url = imageUrl(logoHost, path);
  return url === undefined ? undefined : { url, width, height, format };
}

function logoImageOf(image: Image, logoHost: string) {
  const shared = stockImageOf(image, logoHost);
  return shared && { ...shared, sizeKb: image.sizeKb };
}

function stockOf({ stock, listings }: Brand, logoHost: string): Group<'stock'> {
  return {
    exchange: stock?.exchange,
    exchange_full_name: stock?.exchangeFullName,
    exchange_logo: stock && imageUrl(logoHost, stock.exchangeLogoPath),
    // A venue that is not in the table of exchanges is named by its MIC.
    listings: listings.map(({ mic }) => exchangeOfMic(mic)?.code ?? mic),
    index_memberships: stock?.indexMemberships ?? [],
    isin: stock?.isin,
    cusip: stock?.cusip,
    ipo_date: stock?.ipoDate,
    currency: stock?.currency,
    price: stock?.price,
    price_usd: stock?.priceUsd,
    change: stock?.change,
    change_percentage: stock?.changePercentage,
    market_cap_usd: stock?.marketCapUsd,
    range: stock?.range,
    percent_from_52_week_low: stock?.percentFrom52WeekLow,
    is_actively_trading: stock?.isActivelyTrading,
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
  return websites.filter((website) => {
    const key = websiteKey(website);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function websiteKey(website: string): string {
  const url = URL.parse(website);
  if (!url) return website.replace(/\/$/, '');
  url.pathname = url.pathname.replace(/\/$/, '');
  return url.href;
}

/** A record before fields without data are removed. It has every key, and any value may be blank. */
type Draft<T> = T extends readonly (infer Item)[]
  ? Draft<Item>[]
  : T extends object
    ? { [K in keyof T]-?: Draft<T[K]> | undefined }
    : T;

/**
 * Removes fields without data and repeated items of lists, at every depth. Blank texts, figures that are not finite, and empty
 * lists and objects count as no data. 0 and false are data. Keys and items keep their order. The draft must contain some data.
 */
function compact<T extends object>(draft: Draft<T>): T {
  return withoutBlanks(draft) as T;
}

function isEmptyText(text: string): boolean {
  return text.trim() === '';
}

function withoutBlanks(value: unknown): unknown {
  if (typeof value === 'string') return isEmptyText(value) ? undefined : value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (Array.isArray(value)) {
    const items = new Map<string, unknown>();
    for (const item of value.map(withoutBlanks)) {
      const key = JSON.stringify(item);
      if (item !== undefined && !items.has(key)) items.set(key, item);
    }
    return items.size > 0 ? [...items.values()] : undefined;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .map(([key, field]) => [key, withoutBlanks(field)] as const)
      .filter(([, field]) => field !== undefined);
    return entries.length > 0 ? Object.fromEntries(entries) : undefined;
  }
  return value ?? undefined;
}
