import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Page, pageAt, pages, ROOT } from './pages.ts';

describe.each(pages)('$path', ({ path, markdown, prose }) => {
  const folder = dirname(path);

  test('links only to files and headings that exist', () => {
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const broken = targets
      // A target that begins with a slash is the path of a URL. The tests of the served pages follow it.
      .filter((target) => !/^([a-z]+:|\/)/.test(target))
      .filter((target) => {
        const [file = '', anchor] = target.split('#');
        const to = file === '' ? path : normalize(join(folder, file));
        if (!existsSync(join(ROOT, to))) return true;
        return anchor !== undefined && !anchorsOf(pageAt(to)).includes(anchor);
      });
    expect(broken).toEqual([]);
  });

  test('names only files that exist', () => {
    // The text of a link may be a short name. The test above checks the link's target.
    const unlinked = prose.replaceAll(/\[[^\]]*\]\([^)]*\)/g, '');
    const files = [...unlinked.matchAll(/`([\w./-]+\.(?:ts|mjs|proto|json))`/g)].map(([, file = '']) => file);
    const missing = files
      // A name that begins with a slash is the path of a URL.
      .filter((file) => !/^\.local\/|^\//.test(file))
      .filter(
        (file) =>
          ![file, join(folder, file)].some((path) => existsSync(join(ROOT, path))) &&
          globSync(`${folder}/src/**/${file}`, { cwd: ROOT }).length === 0,
      );
    expect(missing).toEqual([]);
  });

  test('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const named = [...markdown.matchAll(/npm run ([\w:-]+)|npm (start|test)\b/g)].map(
      ([, script, short]) => script ?? short,
    );
    expect(named.filter((name) => name === undefined || !(name in scripts))).toEqual([]);
  });
});

/** Returns the anchors of a page's headings, as GitHub makes them: lower case, without punctuation, hyphens for spaces. */
function anchorsOf({ prose }: Page): string[] {
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('the pictures of README are there, and are less than 300 KB together', () => {
  const pictures = [...pageAt('README.md').prose.matchAll(/ (?:src|srcset)="([^"]+)"/g)].map(
    ([, file = '']) => file,
  );
  expect(pictures.length).toBeGreaterThanOrEqual(4);
  const bytes = pictures.map((file) => statSync(join(ROOT, file)).size);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000);
});
