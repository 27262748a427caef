import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The project's folder. */
export const ROOT = join(import.meta.dirname, '../..');

/** A page of the project, in Markdown. */
export interface Page {
  /** Relative to the project's root. */
  path: string;
  markdown: string;
  /** The fenced blocks, in order. */
  blocks: { language: string; text: string }[];
  /** The page without its fenced blocks. */
  prose: string;
}

const FENCED = /^```(\w*)\n(.*?)^```$/gms;

/** All pages of the project, in the order of their paths. */
export const pages: Page[] = globSync('**/*.md', {
  cwd: ROOT,
  exclude: ['**/{dist,node_modules}/**', '.*/**'],
})
  .toSorted()
  .map((path) => {
    const markdown = readFileSync(join(ROOT, path), 'utf8');
    const blocks = [...markdown.matchAll(FENCED)].map(([, language = '', text = '']) => ({ language, text }));
    return { path, markdown, blocks, prose: markdown.replace(FENCED, '') };
  });
export function pageAt(path: string): Page {
  const page = pages.find((candidate) => candidate.path === path);
  if (page === undefined) throw new Error(`there is no page ${path}`);
  return page;
}
