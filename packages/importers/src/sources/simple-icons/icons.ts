import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Image, ImageVariants, Source } from '@brand-data/contracts';

/** One icon of the package `simple-icons`, drawn on a square of 24 by 24. */
export interface Icon {
  slug: string;
  title: string;
  /** The brand's colour, six hexadecimal digits. */
  hex: string;
  /** An SVG path. */
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

const SIDES = { big: 512, small: 64 } as const;

/** All icons by slug. They take some megabytes, so the package is loaded only at the first call. */
export async function loadIcons(): Promise<Map<string, Icon>> {
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

/**
 * Writes the icon in its brand's colour to `big.svg` and `small.svg` in `folder` below `imagesDir`. Returns the two images
 * for the record. `folder` is also their path on the logo host.
 */
export async function writeLogo(icon: Icon, imagesDir: string, folder: string): Promise<ImageVariants> {
  const write = async (variant: keyof typeof SIDES): Promise<Image> => {
    const side = SIDES[variant];
    const path = `${folder}/${variant}.svg`;
    const svg = Buffer.from(svgOf(icon, side));
    const file = join(imagesDir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, svg);
    const sizeKb = Math.round((svg.length / 1024) * 100) / 100;
    return { path, width: side, height: side, format: 'svg', sizeKb };
  };
  const [big, small] = await Promise.all([write('big'), write('small')]);
  return { big, small };
}

function svgOf({ title, hex, path }: Icon, side: number): string {
  const label = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}" viewBox="0 0 24 24" role="img">` +
    `<title>${label}</title><path fill="#${hex}" d="${path}"/></svg>\n`
  );
}
