import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bundle } from '@brand-data/client/bundle';
import { buildFiles, versioned } from '@brand-data/client/files';
import { Html } from '@brand-data/runtime/html';
import { hero } from './hero.ts';
import { docsBody, notFoundBody, rootFrom, sitePage } from './layout.ts';
import { llmsText } from './llms.ts';
import { guideFrom } from './markdown.ts';
import { DOCS } from './pages.ts';

const SITE = join(import.meta.dirname, '..');

/** Where the docs show logos. */
const HERO = '<!-- hero -->\n';

/** Builds all files into the folder. A file's path there is its path in URLs, with `.html` for pages. */
export async function buildSite(folder: string): Promise<void> {
  const write = async (name: string, text: string) => {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  };
  const source = (name: string) => readFile(join(SITE, name), 'utf8');
  await mkdir(folder, { recursive: true });
  await buildFiles(folder);
  const elements = await readFile(join(folder, versioned('elements.js')));
  const integrity = `sha384-${createHash('sha384').update(elements).digest('base64')}`;
  /** Puts what the build knows in place of the made-up values of guides. */
  const filled = (markdown: string) =>
    markdown.replaceAll('.0.0.0.', versioned('.')).replaceAll('sha384-…', integrity);

  await write(
    'playground.html',
    sitePage({
      path: '/playground',
      title: 'Playground',
      summary: 'Give a ticker, a domain or a name, and see the record that a program gets.',
      body: new Html(await source('playground/body.html')),
      folder: 'playground',
      skip: { text: 'Skip to the answer', to: 'answer-heading' },
    }),
  );
  const skip = { text: 'Skip to the content', to: 'content' };
  for (const { path, file, summary } of DOCS) {
    const text = filled(await source(`docs/${file}`));
    const markdown = `${path}.md`;
    const { title, article } = guideFrom(
      text.replace(HERO, () => hero().markup),
      path,
    );
    const body = docsBody(path, article);
    await write(
      `${path.slice(1)}.html`,
      sitePage({ path, title, summary, body, folder: 'docs', markdown, skip }),
    );
    await write(markdown.slice(1), withLinks(text.replace(HERO, ''), path));
  }
  await write(
    'not-found.html',
    sitePage({
      path: '/not-found',
      title: 'Page not found',
      summary: 'There is no page here.',
      body: notFoundBody(),
      folder: 'docs',
      skip,
    }),
  );
  await write('llms.txt', llmsText());
  for (const file of ['style/base.css', 'style/icon.svg', 'docs/style.css', 'playground/style.css'])
    await cp(join(SITE, file), join(folder, file));
  for (const part of ['docs', 'playground'])
    await bundle(join(SITE, `${part}/main.ts`), join(folder, `${part}/main.js`));
}

/** Returns a page's Markdown as it is served: its links are relative, and lead to Markdown where there is some. */
function withLinks(markdown: string, path: string): string {
  return markdown.replaceAll(/\]\(\/([\w/.-]*)/g, (_, to: string) => {
    const ending = DOCS.some((page) => page.path === `/${to}`) ? '.md' : '';
    return `](${rootFrom(path)}${to}${ending}`;
  });
}
