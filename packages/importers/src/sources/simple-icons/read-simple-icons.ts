import { Brand } from '@brand-data/contracts';
import { coreName, normalName, readWebHost } from '@brand-data/identifiers';
import type { ReadItem } from '../../framework/source-items.ts';
import { drawIcon, type Icon, loadIcons, SIMPLE_ICONS } from '../../pictures/icons.ts';
import SITES from './known-sites.json' with { type: 'json' };
import WORDS from './known-words.json' with { type: 'json' };

/**
 * Hosts of many brands, which are not the own site of an icon that was found there. Hosts that are the source of more than MANY
 * icons are treated in the same way. A host's own brand (GitHub's icon at github.com) is recognized by its name.
 */
const SHARED_HOSTS: ReadonlySet<string> = new Set(WORDS.shared_hosts);
const MANY = 3;

/**
 * The sites of brands whose icons were found elsewhere, on the site of one country or of a part of the company, or on the brand's own
 * site whose name does not show it ("stryker-mutator.io"), by slug.
 */
const KNOWN_SITES = Object.entries(SITES).map(([slug, host]) => [slug, `https://${host}/`] as const);

/** Yields every icon as a brand with its logo. */
export async function* readSimpleIcons(): AsyncGenerator<ReadItem<Brand>> {
  const icons = [...(await loadIcons()).values()];
  const websites = ownWebsites(icons);
  const titles = new Set(icons.map(({ title }) => normalName(title)));
  for (const { slug, title, aliases } of icons) {
    // An alias that is also a title is left out: it repeats this icon's title, or it means another icon's brand ("Terraform").
    const names = [...new Set([...(aliases?.aka ?? []), ...Object.values(aliases?.loc ?? {})])].filter(
      (name) => !titles.has(normalName(name)),
    );
    const website = websites.get(slug);
    const brand = Brand.fromPartial({
      id: slug.replaceAll('_', '-'),
      name: title,
      names,
      ...(aliases?.old && { history: { formerly: aliases.old } }),
      ...(website && { links: { websites: [website] } }),
      sources: [{ ...SIMPLE_ICONS, fields: ['images.logo'] }],
    });
    const light = { read: () => drawIcon(slug), held: 0 };
    yield { from: slug, item: brand, pictures: [{ field: 'images.logo', light }] };
  }
}

/**
 * Returns each brand's own site, by slug, if the icon was found on it or on a sub-domain. The domain's name must fit the brand's name,
 * and no other brand's name better. If in doubt, the brand gets no site: a look-up of another company's domain would find it.
 */
function ownWebsites(icons: readonly Icon[]): Map<string, string> {
  const byHost = Map.groupBy(icons, ({ source }) => readWebHost(source)?.host);
  const isShared = (host: string) => SHARED_HOSTS.has(host) || (byHost.get(host)?.length ?? 0) > MANY;
  const found = icons.flatMap((icon) => {
    const web = readWebHost(icon.source);
    return web === undefined ? [] : [{ icon, ...web, fit: fitOf(web.domain, icon) }];
  });
  const taken = new Set(found.filter(({ fit }) => fit === 'exact').map(({ domain }) => domain));
  return new Map([
    ...found
      .filter(({ fit, domain, host }) =>
        fit === 'partly' ? !taken.has(domain) && !isShared(domain) && !isShared(host) : fit === 'exact',
      )
      .map(({ icon, domain }) => {
        const { hostname } = new URL(icon.source);
        return [icon.slug, `https://${hostname === `www.${domain}` ? hostname : domain}/`] as const;
      }),
    ...KNOWN_SITES,
  ]);
}

/** Words that young companies put before their name if the plain domain was taken. */
const BEFORE_A_NAME = new RegExp(`^(${WORDS.before_a_name.join('|')})`);

/**
 * What brands put after their name: a legal form, the kind of product, or a line of business that does not name another company.
 * Any other word may (tatasteel.com is Tata Steel's, not Tata's).
 */
const AFTER_A_NAME = new RegExp(`^(${WORDS.after_a_name.join('|')})?$`);

/**
 * Returns "exact" if the domain's label is one of the brand's names. Returns "partly" if the label is a name with one of these
 * words before it, after it, or both ("getbootstrap.com", "fylehq.com").
 */
function fitOf(domain: string, { slug, title, aliases }: Icon): 'exact' | 'partly' | 'none' {
  const label = lettersOf(domain.split('.', 1)[0] ?? '');
  const whole = lettersOf(domain);
  const names = [slug, title, coreName(normalName(title)), ...(aliases?.aka ?? [])]
    .map(lettersOf)
    .filter((name) => name !== '');
  if (names.some((name) => name === label || name === whole)) return 'exact';
  const begins = [label, label.replace(BEFORE_A_NAME, '')];
  return names.some(
    (name) =>
      name.length >= 4 &&
      begins.some((begin) => begin.startsWith(name) && AFTER_A_NAME.test(begin.slice(name.length))),
  )
    ? 'partly'
    : 'none';
}

function lettersOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
