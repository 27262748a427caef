import type { Source } from '@brand-data/contracts';
import { PictureProblem } from '../framework/source-items.ts';

/** One icon of the package `simple-icons`, drawn on a square of 24 by 24. */
export interface Icon {
  slug: string;
  title: string;
  /** The brand's colour, six hexadecimal digits. */
  hex: string;
  path: string;
  /** The page where the icon was found. It is often, but not always, on the brand's own site. */
  source: string;
  /** Other names: alternative names, names in other languages, and former names. */
  aliases?: { aka?: string[]; loc?: Record<string, string>; old?: string[] };
}

export const SIMPLE_ICONS: Pick<Source, 'name' | 'url' | 'licence'> = {
  name: 'Simple Icons',
  url: 'https://github.com/simple-icons/simple-icons',
  licence: 'CC0-1.0',
};

let icons: Promise<ReadonlyMap<string, Icon>> | undefined;

/** Returns all icons by slug. They take some megabytes, so the package is loaded only at the first call. */
export function loadIcons(): Promise<ReadonlyMap<string, Icon>> {
  icons ??= readPackage();
  return icons;
}

async function readPackage(): Promise<ReadonlyMap<string, Icon>> {
  const [drawings, { default: facts }] = await Promise.all([
    import('simple-icons'),
    import('simple-icons/icons.json', { with: { type: 'json' } }),
  ]);
  const paths = new Map(
    Object.values(drawings).flatMap((icon) => ('slug' in icon ? [[icon.slug, icon.path]] : [])),
  );
  return new Map(
    (facts as Omit<Icon, 'path'>[]).flatMap((icon) => {
      const path = paths.get(icon.slug);
      return path === undefined ? [] : [[icon.slug, { ...icon, path }]];
    }),
  );
}

/** Returns the icon in its brand's colour, as an SVG file. Rejects with a PictureProblem if the icon does not exist. */
export async function drawIcon(slug: string): Promise<Buffer> {
  const icon = (await loadIcons()).get(slug);
  if (icon === undefined) throw new PictureProblem(`Simple Icons has no icon "${slug.slice(0, 100)}"`);
  const { title, hex, path } = icon;
  const label = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" role="img">` +
      `<title>${label}</title><path fill="#${hex}" d="${path}"/></svg>\n`,
  );
}
