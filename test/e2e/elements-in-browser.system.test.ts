import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BrandType } from '@brand-data/contracts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { startWebServer, type WebServer } from '@brand-data/testing/web-server';
import axe from 'axe-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { chromium } from './browser.ts';
import { buildClientIn, clientExamples } from './built-client.ts';
import { TestOperator } from './operator.ts';
import { type Browser, type Page, startBrowser } from './page.ts';

/** Watches the page from before the elements are there. With #held in the URL, calls wait for `release`. */
const WATCH = `
const call = fetch;
const released = new Promise((resolve) => { window.release = resolve; });
Object.assign(window, { calls: [], shifts: [], violations: [], seen: [] });
window.fetch = async (url, init) => {
  calls.push(new URL(url).pathname);
  if (location.hash === '#held') await released;
  return call(url, init);
};
new PerformanceObserver((list) => shifts.push(...list.getEntries().map(({ value }) => value))).observe({
  type: 'layout-shift', buffered: true,
});
document.addEventListener('securitypolicyviolation', ({ violatedDirective }) => violations.push(violatedDirective));
for (const type of ['brand-load', 'brand-error'])
  document.addEventListener(type, ({ target, detail }) => seen.push([type, target.id, detail.name, detail.code]));
`;

/** A page's own styles, which must not reach into the elements. Whole pages reserve the place of elements not yet defined. */
const STYLES = `
body { margin: 8px; text-transform: uppercase; }
.far { height: 30000px; }
p, span, img, article, a { border: 7px solid red !important; color: red !important; font-size: 40px !important; }
brand-logo:not(:defined) { display: inline-block; vertical-align: middle; width: 64px; height: 64px; }
brand-card:not(:defined) { display: inline-block; vertical-align: middle; width: 320px; height: 12rem; }
`;

const HOSTILE = `"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

describe.skipIf(chromium === undefined)('the elements in Chromium', () => {
  let stack: TestStack;
  let browser: Browser;
  let page: Page;
  let api: string;
  let token: string;
  let server: WebServer;
  const files = new Map<string, { type: string; text: string }>();

  beforeAll(async () => {
    const folder = await temporaryFolder();
    stack = await startTestStack({ gateways: 1 });
    api = stack.gateways[0]?.url ?? '';
    const operator = new TestOperator(stack);
    try {
      const common = { type: BrandType.STOCK, description: 'Makes things up.', category: 'brand', rank: 1 };
      await operator.putBrands([
        {
          ...common,
          id: 'apple',
          name: 'Apple',
          listings: [{ ticker: 'AAPL', mic: 'XNAS', primary: true }],
          links: { websites: ['https://www.apple.com/'] },
          company: { industry: 'Computers', headquarters: { city: 'Cupertino', country: 'United States' } },
        },
        { ...common, id: 'other', name: 'Other', listings: [{ ticker: 'OTHR', mic: 'XNYS', primary: true }] },
      ]);
      ({ token } = await operator.newAccount(10_000));
    } finally {
      operator.close();
    }
    const dist = await buildClientIn(folder);
    const javascript = 'text/javascript';
    files.set('/elements.js', { type: javascript, text: await readFile(join(dist, 'elements.js'), 'utf8') });
    files.set('/watch.js', { type: javascript, text: WATCH });
    files.set('/page.css', { type: 'text/css', text: STYLES });
    server = await startWebServer(({ url = '' }, response) => {
      const { type, text } = files.get(url) ?? { type: 'text/plain', text: '' };
      const policy = `default-src 'none'; script-src 'self'; style-src 'self'; connect-src ${api}; img-src ${imagesOrigin()}`;
      response.writeHead(200, {
        'Content-Type': `${type}; charset=utf-8`,
        'Access-Control-Allow-Origin': '*',
        ...(url === '/strict' && { 'Content-Security-Policy': policy }),
      });
      response.end(text);
    });
    browser = await startBrowser(folder);
    page = await browser.newPage();
  });
  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    await stack?.stop();
  });

  const imagesOrigin = () => new URL(stack.images[0]?.url ?? '').origin;
  const elementOf = (name: string, attributes: Record<string, string>) =>
    `<${name} ${Object.entries({ api, token, ...attributes })
      .map(([key, value]) => `${key}="${value}"`)
      .join(' ')}></${name}>`;
  const logo = (attributes: Record<string, string>) => elementOf('brand-logo', attributes);
  const card = (attributes: Record<string, string>) => elementOf('brand-card', attributes);

  /** Opens a page with these elements under a strict content security policy. */
  async function show(
    content: string,
    { theme, isHeld = false }: { theme?: 'light' | 'dark'; isHeld?: boolean } = {},
  ) {
    const head = `<meta charset="utf-8"><title>Test</title><link rel="stylesheet" href="/page.css"><script src="/watch.js"></script><script type="module" src="/elements.js"></script>`;
    const text = `<!doctype html><html lang="en"><head>${head}</head><body><main>${content}<div id="below">Below</div></main></body></html>`;
    files.set('/strict', { type: 'text/html', text });
    await page.open('about:blank');
    await page.open(`${server.url}/strict${isHeld ? '#held' : ''}`, theme === undefined ? {} : { theme });
  }

  /** Returns an expression inside the shadow root of the element with this id. */
  const inside = <T>(id: string, expression: string) =>
    page.evaluate<T>(`((root) => ${expression})(document.querySelector('#${id}').shadowRoot)`);
  const seen = () => page.evaluate<unknown[]>('seen');
  const hasImage = (id: string) =>
    inside<boolean>(id, `root.querySelector('img')?.complete && root.querySelector('img').naturalWidth > 0`);

  test('show name and logo under a strict content security policy', async () => {
    await show(logo({ id: 'logo', identifier: 'AAPL' }) + card({ id: 'card', identifier: 'AAPL' }));
    await expect.poll(() => hasImage('logo')).toBe(true);
    await expect.poll(() => hasImage('card')).toBe(true);
    expect(await inside('logo', `root.querySelector('[role=img]').getAttribute('aria-label')`)).toBe('Apple');
    expect(await inside('logo', `root.querySelector('[aria-busy]')`)).toBeNull();
    const text = await inside<string>('card', 'root.textContent');
    for (const part of ['Apple', 'AAPL', 'Computers', 'Makes things up.', 'apple.com', 'Cupertino'])
      expect(text).toContain(part);
    expect(await inside('card', `root.querySelector('a').href`)).toBe('https://www.apple.com/');
    expect(await page.evaluate('violations')).toEqual([]);
  });

  test('share one call if they want the same record, at the same time or later', async () => {
    await show(
      [1, 2, 3].map((n) => logo({ id: `l${n}`, identifier: 'AAPL' })).join('') +
        card({ id: 'card', identifier: 'AAPL' }),
    );
    await expect.poll(async () => (await seen()).length).toBe(4);
    await page.evaluate(`document.body.append(document.querySelector('#l1').cloneNode())`);
    await expect.poll(async () => (await seen()).length).toBe(5);
    expect(await page.evaluate('calls')).toEqual(['/api/logos/AAPL/info']);
  });

  test('that move on their page while they load or later make one call, and tell once that they have loaded', async () => {
    await show(logo({ id: 'logo', identifier: 'AAPL' }), { isHeld: true });
    const move = () =>
      page.evaluate(`void document.querySelector('main').append(document.querySelector('#logo'))`);
    await expect.poll(() => page.evaluate('calls.length')).toBe(1);
    await move();
    await page.evaluate('release()');
    await expect.poll(() => hasImage('logo')).toBe(true);
    await move();
    await painted();
    expect(await page.evaluate('calls.length')).toBe(1);
    expect(await seen()).toEqual([['brand-load', 'logo', 'Apple', null]]);
  });

  test('load again after a failure when the page says so', async () => {
    await show(logo({ id: 'logo', identifier: 'AAPL', token: 'pk_wrong' }));
    await expect.poll(async () => (await seen()).length).toBe(1);
    await page.evaluate(`document.querySelector('#logo').reload()`);
    await expect.poll(async () => (await seen()).length).toBe(2);
  });

  test('ask for the kind that their attribute names', async () => {
    await show(logo({ id: 'logo', identifier: 'apple', kind: 'ticker' }));
    await expect.poll(seen).toEqual([['brand-error', 'logo', 'BrandDataError', 'identifier_not_found']]);
    await page.evaluate(`document.querySelector('#logo').kind = 'name'`);
    await expect.poll(() => inside('logo', `root.querySelector('[role=img]').ariaLabel`)).toBe('Apple');
  });

  test('take an address that is relative to their page', async () => {
    await show(logo({ id: 'logo', identifier: 'AAPL', api: '/brands' }));
    expect(await page.evaluate(`document.querySelector('#logo').api`)).toBe(`${server.url}/brands`);
  });

  test('cannot be seen where the page hides what is around them', async () => {
    await show(card({ id: 'card', identifier: 'AAPL' }));
    await page.evaluate(`document.querySelector('main').style.visibility = 'hidden'`);
    expect(await inside('card', `getComputedStyle(root.querySelector('article')).visibility`)).toBe('hidden');
  });

  test('without an identifier are not shown as loading', async () => {
    await show(logo({ id: 'logo' }) + card({ id: 'card' }));
    for (const id of ['logo', 'card'])
      expect(await inside(id, `root.querySelector('.picture').dataset.kind`)).toBe('empty');
  });

  test('move nothing on the page, from before they are loaded until their images are shown', async () => {
    await show(
      logo({ id: 'logo', identifier: 'AAPL' }) +
        card({ id: 'card', identifier: 'AAPL' }) +
        card({ id: 'miss', identifier: 'no-such-company' }),
      { isHeld: true },
    );
    const places = `['#logo', '#card', '#miss', '#below'].map((name) => JSON.stringify(document.querySelector(name).getBoundingClientRect()))`;
    await expect.poll(() => page.evaluate('calls.length')).toBe(2);
    await painted();
    expect(await inside('logo', `root.querySelector('[role=img]').ariaBusy`)).toBe('true');
    expect(await inside('card', `root.querySelector('article').ariaBusy`)).toBe('true');
    const before = await page.evaluate(places);
    const sizeOf = (id: string) =>
      page.evaluate(
        `(({ width, height }) => [width, height])(document.querySelector('#${id}').getBoundingClientRect())`,
      );
    expect([await sizeOf('logo'), await sizeOf('card')]).toEqual([
      [64, 64],
      [320, 192],
    ]);
    await page.evaluate('release()');
    await expect.poll(async () => (await seen()).length).toBe(3);
    await expect.poll(() => hasImage('card')).toBe(true);
    await painted();
    expect(await page.evaluate(places)).toEqual(before);
    expect(await page.evaluate('shifts')).toEqual([]);
    // The observer does see what moves.
    await page.evaluate(`document.body.style.paddingTop = '300px'`);
    await expect.poll(() => page.evaluate('shifts.length')).toBeGreaterThan(0);
  });

  const painted = () =>
    page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))');

  test.each([
    ['a miss', 'mcdonlads', {}, 'identifier_not_found'],
    ['a token that is not valid', 'Acme', { token: 'pk_wrong' }, 'token_invalid'],
    ['an API that does not answer', 'Acme', { api: 'http://127.0.0.1:9' }, 'network_failed'],
  ])(
    'show the first letter of the identifier after %s, and tell the page',
    async (_, identifier, more, code) => {
      await show(logo({ id: 'logo', identifier, ...more }) + card({ id: 'card', identifier, ...more }));
      await expect.poll(async () => (await seen()).length).toBe(2);
      const letter = identifier.charAt(0).toUpperCase();
      expect(await inside('logo', 'root.textContent')).toBe(letter);
      expect(await inside('logo', `root.querySelector('[role=img]').ariaLabel`)).toBe(identifier);
      expect(await inside('card', `root.querySelector('.letter').textContent`)).toBe(letter);
      expect(await inside('card', `root.querySelector('.name').textContent`)).toBe(identifier);
      expect(await seen()).toEqual(expect.arrayContaining([['brand-error', 'card', 'BrandDataError', code]]));
    },
  );

  test('show the company of the newest identifier, and never that of an older call', async () => {
    // The call for the old value goes on, because another element needs it.
    await show(logo({ id: 'logo', identifier: 'AAPL' }) + logo({ id: 'other', identifier: 'AAPL' }), {
      isHeld: true,
    });
    await expect.poll(() => page.evaluate('calls.length')).toBe(1);
    await page.evaluate(`document.querySelector('#logo').setAttribute('identifier', 'OTHR')`);
    await page.evaluate('release()');
    await expect
      .poll(async () => (await seen()).toSorted())
      .toEqual([
        ['brand-load', 'logo', 'Other', null],
        ['brand-load', 'other', 'Apple', null],
      ]);
    expect(await inside('logo', `root.querySelector('[role=img]').ariaLabel`)).toBe('Other');
    await page.evaluate(`document.querySelector('#logo').setAttribute('identifier', 'AAPL')`);
    await expect.poll(() => inside('logo', `root.querySelector('[role=img]').ariaLabel`)).toBe('Apple');
  });

  test('make no call for attributes that only change the look', async () => {
    await show(logo({ id: 'logo', identifier: 'AAPL' }));
    await expect.poll(() => hasImage('logo')).toBe(true);
    await page.evaluate(
      `for (const [name, value] of [['size', '128'], ['theme', 'dark']]) document.querySelector('#logo').setAttribute(name, value)`,
    );
    expect(await page.evaluate(`document.querySelector('#logo').getBoundingClientRect().width`)).toBe(128);
    expect(await inside('logo', `root.querySelector('img').src`)).toMatch(/size=256&theme=dark$/);
    expect(await page.evaluate('calls.length')).toBe(1);
  });

  const THEMES = ['light', 'dark'] as const;
  const imageTheme = (id: string) =>
    inside<string | null>(
      id,
      `root.querySelector('img') && new URL(root.querySelector('img').src).searchParams.get('theme')`,
    );
  const background = (id: string, selector: string) =>
    inside<string>(id, `getComputedStyle(root.querySelector('${selector}')).backgroundColor`);
  const COLOURS = { light: 'rgb(255, 255, 255)', dark: 'rgb(17, 17, 17)' };

  test.each(
    THEMES.flatMap((visitor) =>
      ([...THEMES, 'light dark', undefined] as const).map((declared) => ({
        visitor,
        declared,
        theme: declared === 'light dark' ? visitor : (declared ?? 'light'),
      })),
    ),
  )(
    'are $theme on a page that declares $declared, for a visitor with a $visitor system',
    async ({ visitor, declared, theme }) => {
      const meta = declared === undefined ? '' : `<meta name="color-scheme" content="${declared}">`;
      await show(
        meta +
          logo({ id: 'auto', identifier: 'AAPL' }) +
          card({ id: 'card', identifier: 'AAPL' }) +
          card({ id: 'light', identifier: 'AAPL', theme: 'light' }) +
          card({ id: 'dark', identifier: 'AAPL', theme: 'dark' }),
        { theme: visitor },
      );
      for (const [id, expected] of [
        ['auto', theme],
        ['card', theme],
        ['light', 'light'],
        ['dark', 'dark'],
      ] as const) {
        await expect.poll(() => imageTheme(id)).toBe(expected);
        expect(await background(id, '.picture')).toBe(COLOURS[expected]);
      }
      expect(await background('card', 'article')).toBe(COLOURS[theme]);
    },
  );

  test('change with the theme of the page, without a call', async () => {
    await show(logo({ id: 'logo', identifier: 'AAPL' }));
    await expect.poll(() => imageTheme('logo')).toBe('light');
    for (const theme of ['dark', 'light']) {
      await page.evaluate(`document.body.style.colorScheme = '${theme}'`);
      await expect.poll(() => imageTheme('logo')).toBe(theme);
    }
    expect(await page.evaluate('calls.length')).toBe(1);
  });

  test('have the theme of the page when they are shown again after a change', async () => {
    await show(logo({ id: 'logo', identifier: 'AAPL' }));
    await expect.poll(() => imageTheme('logo')).toBe('light');
    await page.evaluate(`document.querySelector('main').style.display = 'none'`);
    await painted();
    await page.evaluate(`document.body.style.colorScheme = 'dark'`);
    await painted();
    await page.evaluate(`document.querySelector('main').style.display = ''`);
    await expect.poll(() => imageTheme('logo')).toBe('dark');
  });

  test('keep the focus of their link when the theme changes', async () => {
    await show(card({ id: 'card', identifier: 'AAPL' }));
    await expect.poll(() => hasImage('card')).toBe(true);
    await inside('card', `root.querySelector('a').focus()`);
    await page.evaluate(`document.body.style.colorScheme = 'dark'`);
    await expect.poll(() => imageTheme('card')).toBe('dark');
    expect(await inside('card', `root.activeElement?.localName`)).toBe('a');
  });

  test('see the theme of the page whatever colours it gives their parts', async () => {
    await show(card({ id: 'card', identifier: 'AAPL' }));
    await expect.poll(() => imageTheme('card')).toBe('light');
    await page.evaluate(`(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('::part(card) { color: red; transition: none; }');
      document.adoptedStyleSheets.push(sheet);
      document.body.style.colorScheme = 'dark';
    })()`);
    await expect.poll(() => imageTheme('card')).toBe('dark');
  });

  test('keep a mark on the plate of its theme, on a page of any colour', async () => {
    await show(logo({ id: 'logo', identifier: 'AAPL' }));
    await expect.poll(() => imageTheme('logo')).toBe('light');
    await page.evaluate(`document.body.style.background = '#0d1117'`);
    expect(await background('logo', '.picture')).toBe(COLOURS.light);
  });

  test('take properties like attributes, even those that were set before the script was there', async () => {
    await show('<div id="place"></div>');
    await page.evaluate(`(() => {
      const early = document.createElement('brand-logo');
      Object.assign(early, { id: 'made', api: '${api}', token: '${token}', size: 32 });
      early.identifier = 'AAPL';
      place.append(early);
    })()`);
    await expect.poll(() => hasImage('made')).toBe(true);
    expect(await page.evaluate(`document.querySelector('#made').outerHTML`)).toContain('size="32"');
    expect(await page.evaluate(`document.querySelector('#made').size`)).toBe(32);
    await page.evaluate(
      `Object.assign(document.querySelector('#made'), { identifier: 'OTHR', size: null, theme: 'dark' })`,
    );
    await expect.poll(() => inside('made', `root.querySelector('[role=img]').ariaLabel`)).toBe('Other');
    expect(await page.evaluate(`document.querySelector('#made').getAttribute('size')`)).toBeNull();
    expect(await page.evaluate(`document.querySelector('#made').size`)).toBe(64);

    // A page that has the element before its script.
    files.set('/late', {
      type: 'text/html',
      text: `<!doctype html><script src="/watch.js"></script><brand-logo id="late"></brand-logo><script>
        Object.assign(document.querySelector('#late'), { api: '${api}', token: '${token}', identifier: 'AAPL' });
        </script><script type="module" src="/elements.js"></script>`,
    });
    await page.open(`${server.url}/late`);
    await expect.poll(() => hasImage('late')).toBe(true);
    await page.evaluate(`document.querySelector('#late').identifier = 'OTHR'`);
    await expect.poll(() => inside('late', `root.querySelector('[role=img]').ariaLabel`)).toBe('Other');
  });

  test('take no styles of the page, and the page takes none of theirs', async () => {
    await show(`<p id="own">Text</p>${card({ id: 'card', identifier: 'AAPL' })}`);
    await expect.poll(() => hasImage('card')).toBe(true);
    const look = `['borderTopWidth', 'fontSize', 'color', 'textTransform']`;
    expect(
      await inside('card', `${look}.map((key) => getComputedStyle(root.querySelector('.name'))[key])`),
    ).toEqual(['0px', '16px', 'rgb(26, 29, 35)', 'none']);
    expect(
      await page.evaluate(`${look}.map((key) => getComputedStyle(document.querySelector('#own'))[key])`),
    ).toEqual(['7px', '40px', 'rgb(255, 0, 0)', 'uppercase']);
  });

  test('make their call only when they come near the visible part of the page', async () => {
    await show(
      `${card({ id: 'near', identifier: 'OTHR' })}<div class="far"></div>${logo({ id: 'far', identifier: 'AAPL' })}`,
    );
    await expect.poll(() => hasImage('near')).toBe(true);
    expect(await page.evaluate('calls')).toEqual(['/api/logos/OTHR/info']);
    await page.evaluate(`document.querySelector('#far').scrollIntoView()`);
    await expect.poll(() => hasImage('far')).toBe(true);
  });

  test.each(['light', 'dark'] as const)(
    'have no serious fault of accessibility on a %s page',
    async (theme) => {
      const background = theme === 'dark' ? '#111' : '#fff';
      await show(
        logo({ id: 'logo', identifier: 'AAPL' }) +
          logo({ id: 'none', identifier: 'zzz' }) +
          card({ id: 'card', identifier: 'AAPL' }) +
          card({ id: 'miss', identifier: 'zzz' }),
        { theme },
      );
      await expect.poll(async () => (await seen()).length).toBe(4);
      // The page's own text is not under test.
      await page.evaluate(
        `document.body.style.background = '${background}'; document.querySelector('#below').remove()`,
      );
      await page.evaluate(axe.source);
      const { violations, passes } = await page.evaluate<Record<string, { id: string; impact: string }[]>>(
        `axe.run().then(({ violations, passes }) => ({ violations: violations.map(({ id, impact }) => ({ id, impact })), passes: passes.map(({ id }) => ({ id })) }))`,
      );
      expect(violations?.filter(({ impact }) => impact === 'serious' || impact === 'critical')).toEqual([]);
      // It did look into the elements.
      expect(passes?.map(({ id }) => id)).toEqual(expect.arrayContaining(['role-img-alt', 'color-contrast']));
    },
  );

  test('show hostile data as text, and link to no address but https', async () => {
    const record = {
      name: HOSTILE,
      type: 'stock',
      description: HOSTILE,
      symbol: HOSTILE,
      industry: HOSTILE,
      logo: 'javascript:window.hacked=1',
      website: 'javascript:window.hacked=1',
      exchange: null,
      sector: null,
      headquarters: { city: HOSTILE, state: null, country: null },
    };
    files.set('/api/logos/bad/info?token=t', { type: 'application/json', text: JSON.stringify(record) });
    const hostile = { identifier: 'bad', token: 't', api: server.url };
    const text = `<!doctype html><script src="/watch.js"></script><script type="module" src="/elements.js"></script>${card({ id: 'card', ...hostile })}${logo({ id: 'logo', ...hostile })}`;
    files.set('/lax', { type: 'text/html', text });
    await page.open(`${server.url}/lax`);
    await expect.poll(async () => (await seen()).length).toBe(2);
    expect(await inside('card', `root.querySelector('.name').textContent`)).toBe(HOSTILE);
    expect(await inside('card', `root.querySelectorAll('img, a, script').length`)).toBe(0);
    expect(await inside('logo', `root.querySelectorAll('img, a, script').length`)).toBe(0);
    expect(await page.evaluate('window.hacked === undefined')).toBe(true);
  });

  test('show a logo on the page of every example', async () => {
    const examples = await clientExamples('html', { url: api, token });
    expect(examples.length).toBeGreaterThan(0);
    for (const text of examples) {
      files.set('/example', { type: 'text/html', text });
      await page.open('about:blank');
      await page.open(`${server.url}/example`);
      await expect
        .poll(() =>
          page.evaluate(
            `[...document.querySelectorAll('brand-logo, brand-card')].map(({ shadowRoot }) => shadowRoot?.querySelector('img')?.naturalWidth > 0)`,
          ),
        )
        .toEqual([true, true]);
    }
  });
});
