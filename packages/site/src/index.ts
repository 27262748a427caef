import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export { codeBlock, contents, fieldList, heading, list } from './parts.ts';
export { markdownOf, sectionsOf } from './read-html.ts';

/** Where `build.ts` writes the pages. */
export const BUILT = fileURLToPath(new URL('../dist', import.meta.url));

/** A built file, as browsers get it. */
export interface SiteFile {
  /** The path of its URL. A page has no `.html` there: dist/docs/errors.html is `/docs/errors`. */
  path: string;
  /** Its Content-Type. */
  type: string;
  body: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.gz': 'application/gzip',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.tgz': 'application/gzip',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
};

/**
 * Reads all built files into memory. Throws an error that says what to do if they are not built.
 *
 * @param folder the folder in which `build.ts` has built
 */
export function readSite(folder: string = BUILT): SiteFile[] {
  let names: string[];
  try {
    names = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch (cause) {
    throw new Error(`${folder} has no pages: build them with node packages/site/build.ts`, { cause });
  }
  return names.toSorted().map((name) => {
    const type = TYPES[extname(name)];
    if (type === undefined) throw new Error(`${join(folder, name)}: files of this type are not served`);
    return { path: `/${name.replace(/\.html$/, '')}`, type, body: readFileSync(join(folder, name)) };
  });
}
