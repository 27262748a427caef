import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from '../../client/bundle.ts';

const SITE = join(import.meta.dirname, '..');

/** Builds all files into the folder. A file's path there is its path in URLs, with `.html` for pages. */
export async function buildSite(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await bundle(join(SITE, '../client/src/elements/index.ts'), join(folder, 'elements.js'));
  await cp(join(SITE, 'playground/index.html'), join(folder, 'playground.html'));
  await cp(join(SITE, 'playground/style.css'), join(folder, 'playground/style.css'));
  await bundle(join(SITE, 'playground/main.ts'), join(folder, 'playground/main.js'));
}
