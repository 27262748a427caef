/**
 * `npm run screenshots` makes the pictures of the pages anew, in packages/site/screenshots and packages/operator/screenshots.
 * `npm start` has to run beside it, with its data in `.local`, and Chromium has to be installed. It makes some calls of the demo
 * accounts, and an operator, whom it revokes.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bdsWith, type Demo } from '@brand-data/local';
import { openConnection, serveUsagePage } from '@brand-data/operator';
import { until } from '@brand-data/testing/until';
import { startWebServer } from '@brand-data/testing/web-server';
import { startBrowser } from '../e2e/page.ts';

const ROOT = join(import.meta.dirname, '../..');
const OPERATOR = 'screenshots';

const { gateways, tokens }: Demo = JSON.parse(await readFile(join(ROOT, '.local/demo.json'), 'utf8'));
const api = gateways[0] ?? '';

const logos = ['nvidia.com', 'TSLA', 'Spotify', 'lego.com', "McDonald's", '7203.T', 'PLTR', 'Ferrari'].map(
  (identifier) => `<brand-logo identifier="${identifier}" token="${tokens.paid}" size="64"></brand-logo>`,
);
/** A page with the elements, as a visitor of another site sees it. */
const ELEMENTS = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Holdings</title>
<script type="module" src="${api}/elements.js"></script>
<style>
  body { margin: 32px auto; max-width: 760px; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#fff, #0e1116); color: light-dark(#171a21, #eef1f5); }
  p { display: flex; gap: 16px; align-items: center; }
  div { display: flex; flex-wrap: wrap; gap: 24px; margin-top: 24px; }
</style>
<h1>Holdings</h1>
<p>${logos.join('')}</p>
<div>
<brand-card identifier="NFLX" token="${tokens.paid}"></brand-card>
<brand-card identifier="lego.com" token="${tokens.paid}"></brand-card>
</div>
</html>`;

await using open = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'brand-data-screenshots-'));
open.defer(() => rm(folder, { recursive: true, force: true }));
const browser = await startBrowser(folder);
open.defer(() => browser.stop());
const page = await browser.newPage();

await page.open(`${api}/playground`);
await page.evaluate(`{
  document.querySelector('#token').value = ${JSON.stringify(tokens.paid)};
  document.querySelector('#identifier').value = 'NVDA';
  document.querySelector('#call').dispatchEvent(new Event('input'));
  document.querySelector('#send').click();
}`);
await untilTrue(`/^\\d/.test(document.querySelector('#left')?.textContent)`);
// The token is publishable, but it would look like one that works. The page has led to its answer.
await page.evaluate(`{
  document.querySelector('#token').value = 'pk_…';
  document.activeElement.blur();
  scrollTo(0, 0);
}`);
await take('packages/site/screenshots/playground', { width: 1_100, height: 1_000 });

const site = await startWebServer((_request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(ELEMENTS);
});
open.defer(() => site.stop());
await page.open(site.url);
await untilTrue(
  `[...document.querySelectorAll('brand-logo, brand-card')].every(({ shadowRoot }) => {
    const image = shadowRoot?.querySelector('img');
    return image?.complete && image.naturalWidth > 0;
  })`,
);
await take('packages/site/screenshots/elements', { width: 820, height: 420 });

// The page of all accounts' usage.
const calls = { [tokens.paid]: 40, [tokens.free]: 25, [tokens.small]: 4 };
for (const [token, times] of Object.entries(calls))
  for (let call = 0; call < times; call += 1) await fetch(`${api}/api/logos/AAPL/info?token=${token}`);
const connectionFile = join(ROOT, '.local/operator.json');
const connection = JSON.parse(await readFile(connectionFile, 'utf8'));
const bds = bdsWith(connectionFile);
const created = await bds('operator', 'create', OPERATOR, '--role', 'read');
open.defer(async () => {
  await bds('operator', 'revoke', OPERATOR, '--yes');
});
const usagePage = await serveUsagePage({
  port: 0,
  connectAs: (operatorToken) => openConnection({ ...connection, operatorToken }),
  onDefect: (error) => console.error(error),
});
open.defer(() => usagePage.stop());
const url = new URL(usagePage.url);
url.username = OPERATOR;
url.password = (created as { credential: string }).credential;
await page.open(url.href);
await take('packages/operator/screenshots/usage', { width: 1_280, height: 510 });

/** Takes pictures of the page in both themes. `path`: without the theme and the file's kind. */
async function take(path: string, size: { width: number; height: number }): Promise<void> {
  await mkdir(join(ROOT, path, '..'), { recursive: true });
  for (const theme of ['light', 'dark'] as const) {
    await page.show({ theme, ...size });
    await untilTrue('[...document.images].every((image) => image.complete)');
    await writeFile(join(ROOT, `${path}-${theme}.webp`), await page.screenshot());
  }
}

/** Waits until the expression is true in the page. */
function untilTrue(expression: string): Promise<boolean> {
  return until(expression, () => page.evaluate<boolean>(expression), { withinMs: 20_000 });
}
