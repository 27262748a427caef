import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bundle } from '@brand-data/client/bundle';
import { Html } from '@brand-data/runtime/html';
import { docsBody, notFoundBody, sitePage } from './layout.ts';
import { llmsText } from './llms.ts';
import { guideFrom } from './markdown.ts';
import { DOCS } from './pages.ts';

const SITE = join(import.meta.dirname, '..');

/** Builds all files into the folder. A file's path there is its path in URLs, with `.html` for pages. */
export async function buildSite(folder: string): Promise<void> {
  const write = async (name: string, text: string) => {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  };
  const source = (name: string) => readFile(join(SITE, name), 'utf8');

  await write(
    'playground.html',
    sitePage({
      path: '/playground',
      title: 'Playground',
      summary: 'Give a ticker, a domain or a name, and see the record that a program gets.',
      body: new Html(await source('playground/body.html')),
      style: 'playground/style.css',
      script: 'playground/main.js',
      skip: { text: 'Skip to the answer', to: 'answer-heading' },
    }),
  );
  for (const { path, file, summary } of DOCS) {
    const { title, article } = guideFrom(await source(`docs/${file}`), path);
    const body = docsBody(path, article);
    const skip = { text: 'Skip to the content', to: 'content' };
    const style = 'docs/style.css';
    await write(`${path.slice(1)}.html`, sitePage({ path, title, summary, body, style, skip }));
  }
  await write(
    'not-found.html',
    sitePage({
      path: '/not-found',
      title: 'Page not found',
      summary: 'There is no page here.',
      body: notFoundBody(),
      style: 'docs/style.css',
      skip: { text: 'Skip to the content', to: 'content' },
    }),
  );
  await write('llms.txt', llmsText());
  for (const file of ['style/base.css', 'style/icon.svg', 'docs/style.css', 'playground/style.css'])
    await cp(join(SITE, file), join(folder, file));
  await bundle(join(SITE, '../client/src/elements/index.ts'), join(folder, 'elements.js'));
  await bundle(join(SITE, 'playground/main.ts'), join(folder, 'playground/main.js'));
}
