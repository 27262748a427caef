import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = '{packages,services,test,deploy,proto}/**/*.{ts,mts,mjs,proto,yaml,sh}';
const LEFT_OUT = ['**/node_modules/**', '**/gen/**'];
/** A whole line of a comment, or one behind code. */
const COMMENT = /^\s*(?:\/\/|\/?\*+|#)(.*)$|\s\/\/ (.*)$/gm;
/** A path, or the name of a file, with an ending of these. */
const CITED = /(?<![\w./@-])((?:[\w.-]+\/)*[\w.-]+\.(?:md|proto|ts|mts|mjs))(?![\w-])/g;

function citationsIn(text: string): string[] {
  const comments = [...text.matchAll(COMMENT)].map(([, line, behind]) => line ?? behind ?? '');
  return comments.flatMap((comment) => [...comment.matchAll(CITED)].map(([, path = '']) => path));
}

/** From the project's root, from the folder of the file that cites it, or from a folder above that. */
function isThere(cited: string, file: string): boolean {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if ([cited, join('src', cited), join('test', cited)].some((path) => existsSync(join(ROOT, folder, path))))
      return true;
    if (folder === '.') return false;
  }
}

test('every page and file that a comment or a proto cites is in the tree', () => {
  const files = globSync(SOURCES, { cwd: ROOT, exclude: LEFT_OUT });
  const broken = files.flatMap((file) =>
    citationsIn(readFileSync(join(ROOT, file), 'utf8'))
      .filter((cited) => !isThere(cited, file))
      .map((cited) => `${file} cites ${cited}`),
  );
  expect(files.length).toBeGreaterThan(300);
  expect(broken).toEqual([]);
});
