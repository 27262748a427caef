import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { startWebServer, type WebServer } from '@brand-data/testing/web-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPython, PYTHON_PROGRAMS } from '../python/python.ts';
import { chromium } from './browser.ts';
import { buildClientIn } from './built-client.ts';
import { expectGoodLooksOf, NOTE_VIOLATIONS } from './good-looks.ts';
import { TestOperator } from './operator.ts';
import { type Browser, type Page, startBrowser } from './page.ts';
import { type SampleStack, startSampleStack } from './sample-stack.ts';

const run = promisify(execFile);
const GUIDES = [
  '',
  '/images',
  '/search',
  '/clients',
  '/frameworks',
  '/mobile',
  '/spreadsheets',
  '/python',
  '/assistants',
  '/generators',
  '/identifiers',
  '/quotas',
  '/caching',
  '/errors',
  '/plans',
  '/sources',
  '/compatibility',
  '/changes',
  '/contact',
].map((name) => `/docs${name}`);
const PYTHON_CLIENT = join(import.meta.dirname, '../../packages/client/python');
const SOURCES = join(import.meta.dirname, '../../packages/site/docs');

let stack: SampleStack;
let api: string;
let token: string;
let folder: string;
/** The pages as the gateway serves them, by path. */
const pages = new Map<string, string>();

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startSampleStack();
  api = stack.gateways[0]?.url ?? '';
  const operator = new TestOperator(stack);
  ({ token } = await operator.newAccount(10_000));
  operator.close();
  for (const path of GUIDES) pages.set(path, await (await fetch(`${api}${path}`)).text());
});
afterAll(() => stack?.stop());

/** Returns the examples of a page in a language, with the token of the test. The gateway has put its own URL into them. */
function examplesIn(path: string, language: string): string[] {
  const blocks = [
    ...(pages.get(path) ?? '').matchAll(/<pre[^>]*><code class="language-(\w+)">(.*?)<\/code><\/pre>/gs),
  ];
  return blocks
    .filter(([, found]) => found === language)
    .map(([, , html = '']) =>
      html
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll(/&#39;|&#x27;/g, "'")
        .replaceAll('&amp;', '&')
        .replaceAll('pk_…', token),
    );
}

/**
 * On a busy machine a call may get a 503, or a 404 without the suggestions for 10 s. Therefore the test tries again, as a caller
 * would.
 */
const eventually = { timeout: 60_000, interval: 500 };

const ask = (identifier: string, route = '/v1/brands/{}') =>
  fetch(`${api}${route.replace('{}', identifier)}?token=${token}`, { signal: AbortSignal.timeout(10_000) });

async function answerTo(identifier: string, route?: string): Promise<Response> {
  await expect.poll(async () => (await ask(identifier, route)).status, eventually).not.toBe(503);
  return ask(identifier, route);
}

/** Returns the rows of the table under a heading of a guide, without the signs of code. */
async function rowsUnder(file: string, heading: string, table = 0): Promise<string[][]> {
  const section =
    (await readFile(join(SOURCES, file), 'utf8')).split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const tables =
    section
      .split(/\n(?=\|)/)
      .join('\n')
      .match(/(?:^\|.*\n)+/gm) ?? [];
  const [, , ...rows] = tables[table]?.trim().split('\n') ?? [];
  expect(rows.length).toBeGreaterThan(0);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

const PRINTED: Readonly<Record<string, readonly RegExp[]>> = {
  '/docs': [/^Apple Cupertino\nhttp.*\ntrue \d+\n$/],
  '/docs/identifiers': [
    /^BRK\/B → Berkshire Hathaway .*\nMcDonald's → McDonald's .*\nNestlé → Nestlé .*\n.* → Toyota .*\n$/,
  ],
  '/docs/quotas': [/^\d{4}-\d\d calls \d+ of 10000 used, \d+ left\n$/],
  '/docs/caching': [/^200 304 1\n$/, /^Apple Apple\n$/],
  '/docs/errors': [/^No company .*\nDid you mean McDonald's MCD\n/],
  '/docs/search': [/identifier: 'FIG'/],
  '/docs/clients': [/^Apple Cupertino true\nLEGO Billund true\nidentifier_not_found \[\]\n$/],
  '/docs/plans': [/^\S+\ncalls 10000 \d+\n$/],
};

test.each(GUIDES)('every example in JavaScript on %s runs, and prints what it should', async (path) => {
  await buildClientIn(folder);
  const examples = examplesIn(path, 'js');
  const printed = PRINTED[path] ?? [];
  expect(examples).toHaveLength(printed.length);
  for (const [index, example] of examples.entries()) {
    const file = join(folder, `example-${index}.mjs`);
    await writeFile(file, example);
    await expect
      .poll(async () => (await run(process.execPath, [file], { timeout: 60_000 })).stdout, eventually)
      .toMatch(printed[index] ?? '');
  }
});

test('the function for spreadsheets gets facts of a company with one call, and knows a miss', async () => {
  const [example = ''] = examplesIn('/docs/spreadsheets', 'gs');
  const file = join(folder, 'spreadsheet.mjs');
  await writeFile(
    file,
    `import { execFileSync } from 'node:child_process';
const kept = new Map();
const cache = { get: (key) => kept.get(key) ?? null, put: (key, text) => kept.set(key, text) };
const CacheService = { getScriptCache: () => cache };
let calls = 0;
const UrlFetchApp = {
  fetch(url) {
    calls += 1;
    const [text, status] = execFileSync('curl', ['-s', '-w', '\\t%{http_code}', url]).toString().split('\\t');
    return { getResponseCode: () => Number(status), getContentText: () => text };
  },
};
${example}
console.log(BRAND('AAPL', 'headquarters.city'), BRAND('AAPL', 'name'), calls, BRAND('no such company', 'name'));`,
  );
  await expect
    .poll(async () => (await run(process.execPath, [file], { timeout: 60_000 })).stdout, eventually)
    .toBe('Cupertino Apple 1 not found\n');
});

test('the first command of the start gets the record whose part the page shows', async () => {
  const [command = ''] = examplesIn('/docs', 'sh');
  const { stdout } = await run('sh', ['-c', command], { timeout: 60_000 });
  const [part = ''] = examplesIn('/docs', 'json');
  expect(JSON.parse(stdout)).toMatchObject(JSON.parse(part));
});

test('the command of the page on quotas prints every header that its table lists', async () => {
  const [command = ''] = examplesIn('/docs/quotas', 'sh');
  const { stdout } = await run('sh', ['-c', command], { timeout: 60_000 });
  const names = (await rowsUnder('quotas.md', 'The headers')).map(([name = '']) => name);
  for (const name of names.filter((each) => each !== 'Retry-After'))
    expect(stdout.toLowerCase()).toContain(`\n${name.toLowerCase()}: `);
});

test('the tables of identifiers say which record each of them finds, and how', async () => {
  for (const [identifier = '', company, kind, strength] of await rowsUnder('identifiers.md', 'The kinds')) {
    const answer = await answerTo(encodeURIComponent(identifier));
    expect([identifier, ((await answer.json()) as { name: string }).name]).toEqual([identifier, company]);
    expect(answer.headers.get('brand-match')).toMatch(
      new RegExp(`^kind=${kind}, value=.*, strength=${strength}$`),
    );
  }
  for (const [identifier = '', , listing, company] of await rowsUnder(
    'identifiers.md',
    'Tickers with an exchange',
  )) {
    const answer = await answerTo(encodeURIComponent(identifier));
    expect([identifier, ((await answer.json()) as { name: string }).name]).toEqual([identifier, company]);
    expect(answer.headers.get('brand-match')).toBe(`kind=ticker, value="${listing}", strength=exact`);
  }
});

test('the header in the page on identifiers is that of an answer', async () => {
  const [line = ''] = examplesIn('/docs/identifiers', 'http');
  expect(`Brand-Match: ${(await answerTo('APC.DE')).headers.get('brand-match')}\n`).toBe(line);
});

test('misses have the suggestions that the table of them says', async () => {
  for (const [identifier = '', name] of await rowsUnder('identifiers.md', 'When nothing matches')) {
    const suggested = async () => {
      const { suggestions = [] } = (await (await ask(encodeURIComponent(identifier))).json()) as {
        suggestions?: { name: string }[];
      };
      return suggestions.map((each) => each.name);
    };
    await expect.poll(suggested, eventually).toContain(name);
  }
});

test('answers may be kept for as long as the table of the page on caching says', async () => {
  const operator = new TestOperator(stack);
  const { accountId } = await operator.newAccount(100);
  const limited = await operator.createKey(accountId, { allowedOrigins: ['https://www.example.com'] });
  operator.close();
  const image = ((await (await answerTo('AAPL', '/api/logos/{}/info')).json()) as { logo: string }).logo;
  const privateAnswer = () =>
    fetch(`${api}/v1/brands/AAPL?token=${limited.token}`, { headers: { origin: 'https://www.example.com' } });
  await expect.poll(async () => (await privateAnswer()).status, eventually).toBe(200);
  const search = () => fetch(`${api}/v1/search?q=figm&token=${token}`);
  await expect.poll(async () => (await search()).status, eventually).toBe(200);
  const answers = [
    await answerTo('AAPL'),
    await privateAnswer(),
    await answerTo('no such company'),
    await search(),
    await fetch(`${api}/v1/brands/AAPL`),
    await fetch(image),
  ];
  const rows = await rowsUnder('caching.md', 'What may be kept');
  expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(rows.map(([, value]) => value));
});

test.skipIf(!hasPython)('every example in Python runs, also with a generated client', async () => {
  const [, generate = ''] = examplesIn('/docs/python', 'sh');
  const commands = generate.split('\n').filter((line) => line !== '' && !line.startsWith('pip '));
  expect(commands).toHaveLength(1);
  const env = {
    ...process.env,
    PATH: `${PYTHON_PROGRAMS}${delimiter}${process.env.PATH}`,
    PYTHONPATH: [join(folder, 'brand-data-service-client'), PYTHON_CLIENT].join(delimiter),
  };
  const options = { cwd: folder, env, timeout: 100_000 };
  const { stdout, stderr } = await run('sh', ['-c', commands[0] ?? ''], options);
  // It warns of each operation and schema that it leaves out.
  expect(`${stdout}${stderr}`).not.toMatch(/WARNING|parsing|invalid/i);

  const companies = ['company', 'AAPL', '7203.T', 'lego.com', 'Nestlé', 'no such company', '""'];
  await writeFile(join(folder, 'companies.csv'), companies.join('\r\n'));
  const examples = examplesIn('/docs/python', 'py');
  const printed = [
    /^Apple Cupertino "month";r=\d+;t=\d+\n$/,
    /^company,name,city,logo\r?\nAAPL,Apple,Cupertino,http\S+\r?\n7203.T,Toyota,.*\r?\nlego.com,LEGO,Billund,.*\r?\nNestlé,Nestlé,Vevey,.*\r?\nno such company,,,\r?\n,,,\r?\n$/,
    /^Apple http\S+ True\nLEGO http\S+ True\nidentifier_not_found \[\]\n$/,
    /^Apple Cupertino\n$/,
  ];
  expect(examples).toHaveLength(printed.length);
  for (const [index, example] of examples.entries()) {
    await writeFile(join(folder, `example-${index}.py`), example);
    const result = async () => {
      const { stdout } = await run('python', [`example-${index}.py`], options);
      return example.includes('logos.csv') ? readFile(join(folder, 'logos.csv'), 'utf8') : stdout;
    };
    await expect.poll(result, eventually).toMatch(printed[index] ?? '');
  }
});

describe.skipIf(chromium === undefined)('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  let own: WebServer;
  let served = '';

  beforeAll(async () => {
    browser = await startBrowser(folder);
    page = await browser.newPage();
    await page.beforeEachPage(NOTE_VIOLATIONS);
    own = await startWebServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(served);
    });
  });
  afterAll(async () => {
    await browser?.stop();
    await own?.stop();
  });

  test.each([...GUIDES, '/docs/reference'])(
    '%s fits narrow and wide windows in both themes, and axe-core finds nothing',
    async (path) => {
      await page.open(`${api}${path}`);
      await expectGoodLooksOf(page);
    },
    1_200_000,
  );

  async function openOwnPage(example: string): Promise<void> {
    served = example;
    await page.open('about:blank');
    await page.open(own.url);
  }

  test.each(['/docs', '/docs/images'])('the line for an image of %s shows the logo', async (path) => {
    const [line = ''] = examplesIn(path, 'html');
    expect(line.trim()).toMatch(/^<img [^>]*>$/);
    await openOwnPage(line);
    await expect.poll(() => page.evaluate(`document.querySelector('img').naturalWidth > 0`)).toBe(true);
  });

  test('the search finds a field by the keyboard alone, and leads to it', async () => {
    await page.open(`${api}/docs`);
    const press = (key: string) =>
      page.evaluate(
        `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`,
      );
    const found = () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('#found strong')].map((each) => each.textContent)`,
      );
    const selected = () => page.evaluate(`document.querySelector('#found [aria-selected=true]')?.id`);
    await press('/');
    expect(await page.evaluate('document.activeElement.id')).toBe('search');
    await page.evaluate(
      `{ const box = document.activeElement; box.value = 'Quota charg'; box.dispatchEvent(new Event('input')); }`,
    );
    await expect.poll(found).toContain('X-Quota-Charged');
    const place = (await found()).indexOf('X-Quota-Charged');
    for (let step = 0; step < place; step++) await press('ArrowDown');
    await expect.poll(selected).toBe(`found-${place}`);
    await press('Enter');
    await expect
      .poll(() => page.evaluate('location.href'))
      .toBe(`${api}/docs/reference#header-X-Quota-Charged`);
  });

  test('the button of an example copies exactly its text, and each logo of the start is a company that is known', async () => {
    await page.open(`${api}/docs/python`);
    await page.evaluate(`document.querySelector('.code button').click()`);
    const shown = await page.evaluate<string>(`document.querySelector('.code code').textContent`);
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(shown);
    const [, tiles = ''] = /<div class="wall"[^>]*>(.*?)<\/div>/s.exec(pages.get('/docs') ?? '') ?? [];
    const companies = [...tiles.matchAll(/#([^"]+)">.*?<\/svg>([^<]+)</g)];
    expect(companies.length).toBeGreaterThan(10);
    for (const [, identifier = '', name] of companies)
      expect(await (await answerTo(identifier)).json()).toMatchObject({ name });
  });

  test('the page of the start shows logo, name and headquarters', async () => {
    const [, example = ''] = examplesIn('/docs', 'html');
    await openOwnPage(example);
    await expect.poll(() => page.evaluate(`document.querySelector('#logo').naturalWidth > 0`)).toBe(true);
    const text = await page.evaluate<string>('document.body.innerText');
    expect(text).toContain('Apple');
    expect(text).toContain('Cupertino, California, United States');
  });

  test('the page of clients shows the name that its imported client has got', async () => {
    const [example = ''] = examplesIn('/docs/clients', 'html');
    await openOwnPage(example);
    await expect.poll(() => page.evaluate('document.body.innerText')).toContain('Apple');
  });

  test('the elements of a version load if they have the hash that the page of clients shows, and else not', async () => {
    const [, script = ''] = examplesIn('/docs/clients', 'html');
    const isDefined = () => page.evaluate(`customElements.get('brand-logo') !== undefined`);
    await openOwnPage(script);
    await expect.poll(isDefined).toBe(true);
    const other = script.replace(/sha384-./, (start) => (start.endsWith('A') ? 'sha384-B' : 'sha384-A'));
    await openOwnPage(other.replace('<script', '<script onerror="failed = true"'));
    await expect.poll(() => page.evaluate('window.failed')).toBe(true);
    expect(await isDefined()).toBe(false);
  });

  test('the elements of the start show a logo and a card', async () => {
    const [, , example = ''] = examplesIn('/docs', 'html');
    await openOwnPage(example);
    const inside = (name: string, expression: string) =>
      page.evaluate(`((root) => ${expression})(document.querySelector('${name}').shadowRoot)`);
    await expect.poll(() => inside('brand-logo', `root?.querySelector('img')?.naturalWidth > 0`)).toBe(true);
    await expect.poll(() => inside('brand-card', 'root?.textContent')).toContain("McDonald's");
  });
});
