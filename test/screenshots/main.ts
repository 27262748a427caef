/**
 * `npm run screenshots` makes the pictures of the README anew, in packages/site/screenshots. `npm start` has to run beside it, with its
 * data in `.local`, and Chromium has to be installed.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Demo } from '@brand-data/local';
import { type Page, startBrowser } from '../e2e/page.ts';

const ROOT = join(import.meta.dirname, '../..');
const PICTURES = join(ROOT, 'packages/site/screenshots');
const THEMES = ['light', 'dark'] as const;
const WAIT_AT_MOST_MS = 20_000;

const { gateways, tokens }: Demo = JSON.parse(await readFile(join(ROOT, '.local/demo.json'), 'utf8'));
const api = gateways[0] ?? '';

/** A page with the elements, as a visitor of another site sees it. */
const ELEMENTS = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Holdings</title>
<script type="module" src="${api}/elements.js"></script>
<style>
  body { margin: 32px auto; max-width: 760px; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#fff, #0e1116); color: light-dark(#171a21, #eef1f5); }
  p { display: flex; gap: 16px; align-items: center; }
  div { display: flex; flex-wrap: wrap; gap: 24px; margin-top: 24px; }
</style>
</head>
<body>
<h1>Holdings</h1>
<p>${['nvidia.com', 'TSLA', 'Spotify', 'lego.com', "McDonald's", '7203.T', 'PLTR', 'Ferrari']
  .map(
    (identifier) => `<brand-logo identifier="${identifier}" token="${tokens.paid}" size="64"></brand-logo>`,
  )
  .join('')}</p>
<div>
<brand-card identifier="NFLX" token="${tokens.paid}"></brand-card>
<brand-card identifier="lego.com" token="${tokens.paid}"></brand-card>
</div>
</body>
</html>`;

const own = createServer((_request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(ELEMENTS);
});
await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve));
const folder = await mkdtemp(join(tmpdir(), 'brand-data-screenshots-'));
const browser = await startBrowser(folder);
try {
  await mkdir(PICTURES, { recursive: true });
  const page = await browser.newPage();

  await page.open(`${api}/playground`);
  await page.evaluate(`{
    document.querySelector('#token').value = ${JSON.stringify(tokens.paid)};
    document.querySelector('#identifier').value = 'NVDA';
    document.querySelector('#call').dispatchEvent(new Event('input'));
    document.querySelector('#send').click();
  }`);
  await until(page, `document.querySelector('#status').textContent.startsWith('200')`);
  // The token is publishable, but it would look like one that works.
  await page.evaluate(`document.querySelector('#token').value = 'pk_…'`);
  await take(page, 'playground', { width: 1_100, height: 1_000 });

  await page.open(`http://127.0.0.1:${(own.address() as AddressInfo).port}/`);
  await until(
    page,
    `[...document.querySelectorAll('brand-logo, brand-card')].every(({ shadowRoot }) => {
      const image = shadowRoot?.querySelector('img');
      return image?.complete && image.naturalWidth > 0;
    })`,
  );
  await take(page, 'elements', { width: 820, height: 420 });
} finally {
  await browser.stop();
  own.closeAllConnections();
  own.close();
  await rm(folder, { recursive: true, force: true });
}

async function take(page: Page, name: string, size: { width: number; height: number }): Promise<void> {
  for (const theme of THEMES) {
    await page.show({ theme, ...size });
    await until(page, '[...document.images].every((image) => image.complete)');
    await writeFile(join(PICTURES, `${name}-${theme}.webp`), await page.screenshot());
  }
}

/** Waits until the expression is true in the page. */
async function until(page: Page, expression: string): Promise<void> {
  const began = performance.now();
  while (!(await page.evaluate(expression))) {
    if (performance.now() - began > WAIT_AT_MOST_MS) throw new Error(`Not true in time: ${expression}`);
    await delay(100);
  }
}
