import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { BrandType } from '@brand-data/contracts';
import { chromium } from '@brand-data/test/e2e/browser.ts';
import { buildClientIn } from '@brand-data/test/e2e/built-client.ts';
import { TestOperator } from '@brand-data/test/e2e/operator.ts';
import { type Browser, type Page, startBrowser } from '@brand-data/test/e2e/page.ts';
import { startTestStack, type TestStack } from '@brand-data/test/stack/index.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { startWebServer, type WebServer } from '@brand-data/testing/web-server';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import vue from '@vitejs/plugin-vue';
import { build, type PluginOption } from 'vite';
import solid from 'vite-plugin-solid';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

const HERE = import.meta.dirname;
const PROJECTS = join(HERE, 'projects');

/** The projects that Vite builds, each with the plugin of its framework. */
const PLUGINS: Readonly<Record<string, () => PluginOption>> = {
  react: () => [],
  preact: () => [],
  solid,
  vue: () => vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('brand-') } } }),
  svelte: () => svelte({ configFile: false }),
  lit: () => [],
};
/** The projects whose server renders the page, which the browser then takes over. */
const SERVERS: Readonly<Record<string, string>> = { react: 'server.tsx', vue: 'server.ts' };

/** The page of each project that Vite builds. It loads the project's main. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="color-scheme" content="light" />
    <title>Elements</title>
  </head>
  <body>
    <main id="app"></main>
    <script type="module" src="./main"></script>
  </body>
</html>
`;
const isPage = (id: string) => id.endsWith('/index.html');
const pageOfProject: PluginOption = {
  name: 'page',
  enforce: 'pre',
  resolveId: (id) => (isPage(id) ? id : undefined),
  load: (id) => (isPage(id) ? PAGE : undefined),
};

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
};

/** Notes what a page complains about, from before its scripts run. */
const NOTE_PROBLEMS = `
window.problems = [];
addEventListener('error', ({ message }) => problems.push(message));
addEventListener('unhandledrejection', ({ reason }) => problems.push(String(reason)));
for (const level of ['error', 'warn']) console[level] = (...parts) => problems.push(parts.join(' '));
`;

const CROSSINGS = (['light', 'dark'] as const).flatMap((declared) =>
  (['light', 'dark'] as const).map((visitor) => ({ declared, visitor })),
);

describe.skipIf(chromium === undefined)('the elements in Chromium, in a project of', () => {
  let stack: TestStack;
  let browser: Browser;
  let page: Page;
  let server: WebServer;
  let folder: string;
  let api: string;
  let token: string;

  beforeAll(async () => {
    // Vite reads it: programs are built as for users.
    vi.stubEnv('NODE_ENV', 'production');
    folder = await temporaryFolder();
    await buildClientIn(HERE);
    stack = await startTestStack({ gateways: 1 });
    api = stack.gateways[0]?.url ?? '';
    const operator = new TestOperator(stack);
    try {
      const brand = (id: string, name: string, ticker: string) => ({
        id,
        name,
        type: BrandType.STOCK,
        description: 'Makes things up.',
        category: 'brand',
        rank: 1,
        listings: [{ ticker, mic: 'XNAS', primary: true }],
      });
      await operator.putBrands([brand('apple', 'Apple', 'AAPL'), brand('other', 'Other', 'OTHR')]);
      ({ token } = await operator.newAccount(10_000));
    } finally {
      operator.close();
    }
    server = await startWebServer(({ url = '' }, response) => {
      answer(new URL(url, 'http://localhost')).then(
        ({ type, body }) => response.writeHead(200, { 'Content-Type': type }).end(body),
        () => response.writeHead(404).end(),
      );
    });
    browser = await startBrowser(folder);
    page = await browser.newPage();
    await page.beforeEachPage(NOTE_PROBLEMS);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await browser?.stop();
    await server?.stop();
    await stack?.stop();
  });

  /** Answers with a file of a built project. The query says which colour scheme its page declares. */
  async function answer({ pathname, searchParams }: URL): Promise<{ type: string; body: string }> {
    const file = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
    const text = await readFile(join(folder, normalize(file)), 'utf8');
    const body = text.replace('content="light"', `content="${searchParams.get('scheme') ?? 'light'}"`);
    return { type: TYPES[extname(file)] ?? 'application/octet-stream', body };
  }

  async function buildProject(name: string, { ssr }: { ssr?: string } = {}): Promise<string> {
    const root = join(PROJECTS, name);
    const outDir = join(folder, ssr === undefined ? name : `${name}-program`);
    await build({
      root,
      base: './',
      configFile: false,
      logLevel: 'error',
      plugins: [pageOfProject, PLUGINS[name]?.()],
      define: { API: JSON.stringify(api), TOKEN: JSON.stringify(token) },
      build: { outDir, emptyOutDir: true, ...(ssr !== undefined && { ssr }) },
      ssr: { noExternal: true },
    });
    return outDir;
  }

  /** Expects both elements of a project's page to work: their look, their properties, their events. */
  async function expectElementsOn(path: string, { isRendered = false } = {}): Promise<void> {
    const inLogo = <T>(expression: string) =>
      page.evaluate<T>(`((root) => ${expression})(document.querySelector('brand-logo')?.shadowRoot)`);
    const output = () => page.evaluate(`document.querySelector('output').textContent`);
    for (const { declared, visitor } of CROSSINGS) {
      await page.open('about:blank');
      await page.open(`${server.url}${path}?scheme=${declared}`, { theme: visitor });
      const look = () =>
        page.evaluate(`[...document.querySelectorAll('brand-logo, brand-card')].map(({ shadowRoot }) => {
          const image = shadowRoot?.querySelector('img');
          return image?.naturalWidth > 0 && new URL(image.src).searchParams.get('theme');
        })`);
      await expect.poll(look).toEqual([declared, declared]);
      expect(await page.evaluate(`document.querySelector('brand-logo').offsetWidth`)).toBe(48);
      // A framework that takes over a page adds its listeners later, perhaps after the record has come.
      if (!isRendered) await expect.poll(output).toBe('Apple');
    }
    await page.evaluate(`document.querySelector('button').click()`);
    await expect.poll(() => inLogo(`root.querySelector('[role=img]').ariaLabel`)).toBe('Other');
    await expect.poll(output).toBe('Other');
    expect(await page.evaluate('problems')).toEqual([]);
  }

  test('plain HTML work, whatever theme the page and its visitor have', async () => {
    const text = await readFile(join(PROJECTS, 'plain/index.html'), 'utf8');
    await writeFile(join(folder, 'plain.html'), text.replaceAll('%API%', api).replaceAll('%TOKEN%', token));
    await expectElementsOn('/plain.html');
  });

  test.each(Object.keys(PLUGINS))('%s work, whatever theme the page and its visitor have', async (name) => {
    await buildProject(name);
    await expectElementsOn(`/${name}/`);
  });

  test.each(Object.entries(SERVERS))('%s work on a page that a server has rendered', async (name, ssr) => {
    const built = await buildProject(name);
    const program = join(await buildProject(name, { ssr }), 'server.js');
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      `import { html } from '${pathToFileURL(program)}'; process.stdout.write(await html());`,
    ]);
    expect(stdout).toContain('identifier="AAPL"');
    const index = await readFile(join(built, 'index.html'), 'utf8');
    await writeFile(
      join(built, 'index.html'),
      index.replace('<main id="app"></main>', `<main id="app">${stdout}</main>`),
    );
    await expectElementsOn(`/${name}/`, { isRendered: true });
  });
});

test.each(['react', 'preact', 'solid', 'lit'])(
  'a strict TypeScript program with %s knows the elements, their attributes and their events',
  async (name) => {
    await buildClientIn(HERE);
    const tsc = join(HERE, '../../node_modules/.bin/tsc');
    await promisify(execFile)(tsc, ['-p', join(PROJECTS, name)], { timeout: 100_000 }).catch(({ stdout }) =>
      expect.fail(stdout),
    );
  },
);
