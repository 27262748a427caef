import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Source } from '@brand-data/contracts';
import { once, remembered } from '@brand-data/identifiers';
import CIB from '@iconify-json/cib/info.json' with { type: 'json' };
import LOGOS from '@iconify-json/logos/info.json' with { type: 'json' };
import { type PictureFile, PictureProblem } from '../framework/source-items.ts';

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

/** Returns all icons by slug. They take some megabytes, so the package is loaded only at the first call. */
export const loadIcons = once(async (): Promise<ReadonlyMap<string, Icon>> => {
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
});

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

/** One of Iconify's sets. An icon that states no size has the size of its set. */
interface IconifySet extends Box {
  icons: Record<string, Box & { body: string }>;
}

type Box = Partial<Record<'left' | 'top' | 'width' | 'height', number>>;

/** What the packages of Iconify's sets state about them, among it the licence. */
const SETS = new Map([LOGOS, CIB].map((info) => [info.prefix, info]));

/** Returns an icon of one of Iconify's sets, by "set/icon": "logos/microsoft-icon". */
export function iconifyPicture(name: string): PictureFile {
  const [prefix = '', icon = ''] = name.split(/\/(.*)/s);
  const info = SETS.get(prefix);
  return {
    read: () => drawIconifyIcon(prefix, icon),
    held: 0,
    ...(info && { source: { name: info.name, url: info.author.url, licence: info.license.spdx } }),
  };
}

async function drawIconifyIcon(prefix: string, name: string): Promise<Buffer> {
  if (!SETS.has(prefix))
    throw new PictureProblem(
      `there is no set "${prefix.slice(0, 100)}" of Iconify: there are ${[...SETS.keys()].join(', ')}`,
    );
  const { icons, ...ofSet } = await loadSet(prefix);
  if (!Object.hasOwn(icons, name))
    throw new PictureProblem(`Iconify's set ${prefix} has no icon "${name.slice(0, 100)}"`);
  const { left = 0, top = 0, width = 16, height = 16, body = '' } = { ...ofSet, ...icons[name] };
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
      `viewBox="${left} ${top} ${width} ${height}">${body}</svg>\n`,
  );
}

/** Loads a set at the first call. It is read and not imported, because its type would take the compiler long. */
const loadSet = remembered(async (prefix): Promise<IconifySet> => {
  const file = fileURLToPath(import.meta.resolve(`@iconify-json/${prefix}/icons.json`));
  return JSON.parse(await readFile(file, 'utf8'));
});
