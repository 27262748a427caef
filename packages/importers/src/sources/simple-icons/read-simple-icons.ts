import { Brand, BrandType } from '@brand-data/contracts';
import { coreName, normalName, readWebHost } from '@brand-data/identifiers';
import type { ReadBrand } from '../../framework/source-items.ts';
import { type Icon, loadIcons, SIMPLE_ICONS, writeLogo } from './icons.ts';

/** Well below the sample's and any company data's: little is known but the logo. */
const RANK = 300;
const WRITERS = 16;

/**
 * Hosts of many brands: an icon that was found there does not show whose site it is. So does any host that is the source of
 * more than MANY icons. The host's own brand (GitHub's icon at github.com) is recognized by its name.
 */
const SHARED_HOSTS = new Set([
  'archive.org',
  'behance.net',
  'bitbucket.org',
  'brandfetch.com',
  'brandfolder.com',
  'codeberg.org',
  'discord.com',
  'dribbble.com',
  'dropbox.com',
  'facebook.com',
  'figma.com',
  'frontify.com',
  'gitee.com',
  'github.com',
  'gitlab.com',
  'google.com',
  'instagram.com',
  'issuu.com',
  'linkedin.com',
  'medium.com',
  'notion.so',
  'npmjs.com',
  'pinterest.com',
  'reddit.com',
  'scribd.com',
  'seeklogo.com',
  'sourceforge.net',
  'stackoverflow.com',
  't.me',
  'twitter.com',
  'vimeo.com',
  'wikimedia.org',
  'wikipedia.org',
  'wordpress.org',
  'x.com',
  'youtube.com',
]);
const MANY = 3;

/** Every icon as a brand, its logo written below `imagesDir`. */
export async function* readSimpleIcons(imagesDir: string): AsyncGenerator<ReadBrand> {
  const icons = [...(await loadIcons()).values()];
  const websites = ownWebsites(icons);
  const titles = new Set(icons.map(({ title }) => normalName(title)));
  for (let next = 0; next < icons.length; next += WRITERS) {
    const brands = icons.slice(next, next + WRITERS).map(async (icon) => ({
      from: icon.slug,
      brand: brandOfIcon(icon, {
        titles,
        website: websites.get(icon.slug),
        logo: await writeLogo(icon, imagesDir, `logos/${icon.slug}`),
      }),
    }));
    yield* await Promise.all(brands);
  }
}

function brandOfIcon(
  { slug, title, aliases }: Icon,
  {
    titles,
    website,
    logo,
  }: { titles: ReadonlySet<string>; website: string | undefined; logo: NonNullable<Brand['images']>['logo'] },
): Brand {
  // An alias that is the title of an icon (its own, or another's: "Terraform") means that icon's brand.
  const names = [...new Set([...(aliases?.aka ?? []), ...Object.values(aliases?.loc ?? {})])].filter(
    (name) => !titles.has(normalName(name)),
  );
  return Brand.fromPartial({
    id: slug.replaceAll('_', '-'),
    type: BrandType.BRAND,
    name: title,
    description: describe(title, aliases?.aka, website),
    category: 'brand',
    rank: RANK,
    names,
    ...(aliases?.old && { history: { formerly: aliases.old } }),
    ...(website && { links: { websites: [website] } }),
    images: { logo },
    sources: [{ ...SIMPLE_ICONS, fields: ['images.logo'] }],
  });
}

function describe(title: string, aka: readonly string[] = [], website: string | undefined): string {
  const otherNames = aka.length > 0 ? `, also known as ${aka.join(', ')},` : '';
  const site =
    website === undefined ? '' : ` with a website at ${new URL(website).hostname.replace(/^www\./, '')}`;
  return `${title}${otherNames} is a brand${site}.`;
}

/** Hosts that are the source of more than MANY icons, or known to be many brands'. */
function sharedHosts(icons: readonly Icon[]): (host: string) => boolean {
  const byHost = Map.groupBy(icons, ({ source }) => readWebHost(source)?.host);
  return (host) => SHARED_HOSTS.has(host) || (byHost.get(host)?.length ?? 0) > MANY;
}

/**
 * Each brand's own site, by slug, where its source is on it, whatever the sub-domain ("press.", "brand.", "about."):
 * the domain's name fits the brand's, and no other's better. None where in doubt: a domain that is another's would
 * answer with the wrong brand.
 */
function ownWebsites(icons: readonly Icon[]): Map<string, string> {
  const isShared = sharedHosts(icons);
  const found = icons.flatMap((icon) => {
    const web = readWebHost(icon.source);
    return web === undefined ? [] : [{ icon, ...web, fit: fitOf(web.domain, icon) }];
  });
  const taken = new Set(found.filter(({ fit }) => fit === 'exact').map(({ domain }) => domain));
  return new Map(
    found
      .filter(({ fit, domain, host }) =>
        fit === 'partly' ? !taken.has(domain) && !isShared(domain) && !isShared(host) : fit === 'exact',
      )
      .map(({ icon, domain }) => {
        const { hostname } = new URL(icon.source);
        return [icon.slug, `https://${hostname === `www.${domain}` ? hostname : domain}/`];
      }),
  );
}

/** What young companies put before a name that was taken. */
const BEFORE_A_NAME = /^(get|go|hi|join|my|one|the|use)/;

/** "exact": the domain's label is one of the brand's names; "partly": it begins so ("getbootstrap.com", "fylehq.com"). */
function fitOf(domain: string, { slug, title, aliases }: Icon): 'exact' | 'partly' | 'none' {
  const label = lettersOf(domain.split('.', 1)[0] ?? '');
  const whole = lettersOf(domain);
  const names = [slug, title, coreName(normalName(title)), ...(aliases?.aka ?? [])]
    .map(lettersOf)
    .filter((name) => name !== '');
  if (names.some((name) => name === label || name === whole)) return 'exact';
  const begins = [label, label.replace(BEFORE_A_NAME, '')];
  return names.some((name) => name.length >= 4 && begins.some((begin) => begin.startsWith(name)))
    ? 'partly'
    : 'none';
}

function lettersOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
