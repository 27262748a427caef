import { basename } from 'node:path';
import { Brand, type LogoFile } from '@brand-data/contracts';
import { filesOf } from '../../formats/content.ts';
import type { ReadItem, Skipped } from '../../framework/source-items.ts';
import { readPictureFile } from '../../pictures/take-pictures.ts';

export interface LogoFileFigures {
  /** How many source records name each file that the folder does not have. */
  missing: ReadonlyMap<string, number>;
  /** Files of the folder that no source record names. */
  unnamed: string[];
}

/**
 * Yields the logos in a folder as brands that hold nothing but the logo, for the companies whose source records name its file. A
 * brand has the id of the source record, so that the catalogue links the two. Files whose names the folder lacks are skipped.
 *
 * @param logoFiles the source records. If several have one id, the first counts
 */
export async function* readLogoFiles(
  folder: string,
  logoFiles: AsyncIterable<LogoFile>,
  onFigures: (figures: LogoFileFigures) => void,
): AsyncGenerator<ReadItem<Brand> | Skipped> {
  const paths = await filesOf([folder], () => true);
  const pathOfKey = new Map(
    paths.toReversed().flatMap((path) => commonsFileKeys(path).map((key) => [key, path] as const)),
  );
  const ids = new Set<string>();
  const named = new Set<string>();
  const missing = new Map<string, number>();
  for await (const { id, name, wikidataQid, file } of logoFiles) {
    if (ids.has(id)) continue;
    ids.add(id);
    const path = commonsFileKeys(file).flatMap((key) => pathOfKey.get(key) ?? [])[0];
    if (path === undefined) {
      missing.set(file, (missing.get(file) ?? 0) + 1);
      yield { from: id, skipped: `the folder has no file "${file}"` };
      continue;
    }
    named.add(path);
    const page = `https://commons.wikimedia.org/wiki/File:${encodeURIComponent(file.replaceAll(' ', '_'))}`;
    const brand = Brand.fromPartial({
      id,
      name,
      ...(wikidataQid && { links: { wikidataQid } }),
      sources: [{ name: 'Wikimedia Commons', url: page, fields: ['images.logo'] }],
    });
    yield {
      from: id,
      item: brand,
      pictures: [{ field: 'images.logo', light: { read: () => readPictureFile(path), held: 0 } }],
    };
  }
  onFigures({ missing, unnamed: paths.filter((path) => !named.has(path)) });
}

/**
 * Returns the keys of a file's name on Wikimedia Commons. Two names mean the same file if they have a key in common. Wikimedia
 * treats spaces and underscores as equal, and the first letter's case as well. A downloaded file may have its name
 * percent-encoded, as in its URL. A name that contains a percent sign may be written both ways, so it has two keys.
 */
function commonsFileKeys(name: string): string[] {
  const file = basename(name);
  return [...new Set([file, percentDecoded(file)].map(keyOf))];
}

function keyOf(name: string): string {
  const text = name
    .normalize('NFC')
    .replace(/^(?:file|image):/i, '')
    .replace(/[\s_]+/g, ' ')
    .trim();
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
