import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Route } from '@brand-data/contracts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPython, PYTHON_PROGRAMS } from '../python/python.ts';
import { chromium } from './browser.ts';
import { buildClientIn } from './built-client.ts';
import { bareMerchant, flatAnswer, fullManager, fullStock, groupedAnswer } from './fixtures.ts';
import { expectGoodLooksOf, NOTE_VIOLATIONS } from './good-looks.ts';
import { TestOperator } from './operator.ts';
import { type Browser, type Page, startBrowser } from './page.ts';
import { type SampleStack, startSampleStack } from './sample-stack.ts';

/**
 * Notes the calls for records, which wait while `held` is true. Notes the texts of searches, each with what answers it, if
 * `searches` is a list: the search waits for that, also if it is aborted.
 */
const WATCH = `
const call = fetch;
Object.assign(window, { calls: [], held: false, searches: undefined });
window.fetch = async (url, init) => {
  const { pathname, searchParams } = new URL(url);
  if (pathname === '/v1/usage' || (pathname === '/v1/search' && searches === undefined)) return call(url, init);
  if (pathname === '/v1/search') {
    const search = { text: searchParams.get('q'), signal: init.signal };
    searches.push(search);
    return new Promise((resolve) => { search.answer = (...answer) => resolve(new Response(...answer)); });
  }
  const made = { path: pathname, isAborted: false };
  calls.push(made);
  init.signal.addEventListener('abort', () => { made.isAborted = true; });
  while (held && !init.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 10));
  return call(url, init);
};
`;

/** Of all files of the page, as they are sent. */
const MOST_BYTES = 60_000;
/** Well-formed, but of no account. */
const DEMO_TOKEN = `pk_${'a'.repeat(32)}`;
const NARROW_PLAN = 'playground-logos';
const COMPANY = { type: 'stock', symbol: 'APP', domain: 'app.example', logo: null };

interface Answered {
  /** What a screen reader hears. */
  status: string;
  text: string;
}

describe.skipIf(chromium === undefined)('the playground in Chromium', () => {
  let folder: string;
  let stack: SampleStack;
  let browser: Browser;
  let page: Page;
  let api: string;
  const tokens = { paid: '', logos: '', small: '', few: '' };

  beforeAll(async () => {
    folder = await temporaryFolder();
    stack = await startSampleStack({ DEMO_TOKEN });
    api = stack.gateways[0]?.url ?? '';
    const operator = new TestOperator(stack);
    try {
      await operator.putBrands([fullStock]);
      tokens.paid = (await operator.newAccount(10_000)).token;
      tokens.small = (await operator.newAccount(1)).token;
      tokens.few = (await operator.newAccount(10)).token;
      await operator.setPlan(NARROW_PLAN, [{ name: 'free', allowance: 100, routes: [Route.LOGOS] }]);
      tokens.logos = (await operator.createKey(await operator.createAccount(NARROW_PLAN))).token;
    } finally {
      operator.close();
    }
    browser = await startBrowser(folder);
    page = await browser.newPage();
    await page.beforeEachPage(NOTE_VIOLATIONS + WATCH);
  });
  afterAll(async () => {
    await browser?.stop();
    await stack?.stop();
  });

  async function open(fragment = ''): Promise<void> {
    await page.open('about:blank');
    await page.open(`${api}/playground${fragment}`);
  }

  const set = (id: string, value: string) =>
    page.evaluate(`{
      const input = document.querySelector('#${id}');
      input.value = ${JSON.stringify(value)};
      input.dispatchEvent(new Event('input', { bubbles: true }));
      input.dispatchEvent(new Event('change', { bubbles: true }));
    }`);
  const click = (selector: string) => page.evaluate(`document.querySelector('${selector}').click()`);
  const answer = () =>
    page.evaluate<Answered>(
      `({ status: document.querySelector('#status').textContent, text: document.querySelector('#answer').textContent })`,
    );
  const calls = () => page.evaluate<{ path: string; isAborted: boolean }[]>('calls');

  async function send(
    identifier: string,
    { token = tokens.paid, variant = 'grouped' }: { token?: string; variant?: string } = {},
  ): Promise<void> {
    await set('token', token);
    await set('identifier', identifier);
    await click(`#${variant}`);
    await click('#send');
  }

  async function expectAnswer(status: string | RegExp, ...texts: string[]): Promise<void> {
    await expect.poll(async () => (await answer()).status).toMatch(status);
    const { text } = await answer();
    for (const each of texts) expect(text).toContain(each);
  }

  /** Types into the field of the identifier as a visitor does. */
  async function type(text: string): Promise<void> {
    await page.evaluate(`document.querySelector('#identifier').focus()`);
    await page.evaluate(`document.querySelector('#identifier').select()`);
    await page.type(text);
  }

  const searchedTexts = () => page.evaluate<string[]>('searches.map(({ text }) => text)');

  async function answerSearch(index: number, names: readonly string[]): Promise<void> {
    await expect.poll(async () => (await searchedTexts()).length).toBeGreaterThan(index);
    const companies = names.map((name) => ({ ...COMPANY, name, identifier: `unheard-of-${name}` }));
    await page.evaluate(`searches[${index}].answer(${JSON.stringify(JSON.stringify({ companies }))})`);
  }

  interface Suggested {
    isOpen: boolean;
    names: string[];
    active: string | null;
    text: string;
  }
  /** What the field tells of its list, to eyes and to screen readers. */
  const suggested = () =>
    page.evaluate<Suggested>(`(() => {
      const field = document.querySelector('#identifier');
      const list = document.getElementById(field.getAttribute('aria-controls'));
      const nameOf = (option) => option?.querySelector('span').textContent ?? null;
      const active = document.getElementById(field.getAttribute('aria-activedescendant') ?? '');
      const selected = list.querySelectorAll('[aria-selected=true]');
      if (selected.length > 1 || (selected[0] ?? null) !== active) throw new Error('two options are active');
      if ((field.ariaExpanded === 'true') === list.hidden) throw new Error('aria-expanded is wrong');
      return {
        isOpen: !list.hidden,
        names: [...list.querySelectorAll('[role=option]')].map(nameOf),
        active: nameOf(active),
        text: field.value,
      };
    })()`);

  const expectGoodLooks = () => expectGoodLooksOf(page);

  test.each([
    [
      'a listed company',
      'ZPHX',
      'grouped',
      ['Zéphyr & Sons', 'Listed company', '10.5 EUR', 'Z Trust', 'MUC'],
    ],
    ['a private company', 'lego.com', 'grouped', ['LEGO', 'Headquarters', 'Billund']],
    [
      'a superinvestor',
      'Warren Buffett',
      'grouped',
      ['Warren Buffett', 'Superinvestor', 'Berkshire Hathaway'],
    ],
    ['a listed company, flat', 'AAPL', 'flat', ['Apple', 'US0378331005', 'Cupertino']],
    ['a merchant, flat', 'lego.com', 'flat', ['LEGO', 'Billund']],
  ])(
    'shows the record of %s in both themes, on narrow and wide screens',
    async (_, identifier, variant, texts) => {
      await open();
      await send(identifier, { variant });
      await expectAnswer(
        /^200 OK: .*was counted.*About .* calls left this month/,
        'Why this record',
        ...texts,
      );
      await expectGoodLooks();
    },
  );

  test('draws the 52-week range with its figures as text', async () => {
    await open();
    await send('ZPHX');
    await expectAnswer(/^200/);
    const label = `document.querySelector('svg.range').getAttribute('aria-label')`;
    expect(await page.evaluate(label)).toBe('52-week range: 5.25 to 21, price 10.5');
  });

  test('says of which day a price is and where a record comes from, and nothing where that is unknown', async () => {
    await open();
    const body = JSON.stringify(JSON.stringify(groupedAnswer(fullStock, '')));
    const known = { 'Brand-Data': 'sources=("A";date="2026-08" %"%c3%9c"), price_date="2026-08-21"' };
    for (const headers of [known, {}]) {
      await page.evaluate(
        `window.fetch = async () => new Response(${body}, { headers: ${JSON.stringify(headers)} })`,
      );
      await send('ZPHX');
      await expectAnswer(/^200/, '10.5 EUR');
      const { text } = await answer();
      expect(text.includes('price of 21 August 2026')).toBe('Brand-Data' in headers);
      expect(text.includes('Sources: A (August 2026), Ü')).toBe('Brand-Data' in headers);
    }
  });

  test('asks again with the ETag, and says that the 304 was counted', async () => {
    await open();
    await send('AAPL');
    await expectAnswer(/^200/);
    await page.evaluate(`document.querySelector('#again').focus()`);
    await click('#again');
    await expectAnswer(/^304 Not Modified: Apple\. This call was counted\./, 'It counts like a 200');
    // The button goes away with the older answer.
    expect(await page.evaluate('document.activeElement.id')).toBe('answer-heading');
    await expectGoodLooks();
  });

  test.each([
    ['an invalid token', () => ({ token: 'pk_wrong' }), /^401 Unauthorized: .*was not counted/],
    ['a plan without the route', () => ({ token: tokens.logos }), /^403 Forbidden: .*was not counted/],
  ])('explains %s', async (_, more, status) => {
    await open();
    await send('AAPL', more());
    await expectAnswer(status, 'what it means and what to do');
    await expectGoodLooks();
  });

  test('explains a quota that is used up', async () => {
    await open();
    await send('AAPL', { token: tokens.small });
    await expectAnswer(/^200/, '0 of 1 calls left');
    await send('AAPL', { token: tokens.small });
    await expectAnswer(/^429 Too Many Requests: .*was not counted/, 'The service asks to wait');
    await expectGoodLooks();
  });

  test('offers the suggestions of a 404, and a click on one calls for it', async () => {
    // On a busy machine catalog may give up its search for suggestions, and the gateway keeps that answer for 10 s.
    const suggested = async () => (await fetch(`${api}/v1/brands/mcdonlads?token=${tokens.paid}`)).text();
    await expect.poll(suggested, { timeout: 40_000 }).toContain("McDonald's");
    await open();
    await send('mcdonlads');
    await expectAnswer(/^404 Not Found: .*was counted/, "McDonald's");
    await expectGoodLooks();
    await page.evaluate(`document.querySelector('.suggestions button').focus()`);
    await click('.suggestions button');
    await expectAnswer(/^200 OK: McDonald's/);
    expect(await page.evaluate('document.activeElement.id')).toBe('answer-heading');
    expect(await page.evaluate(`document.querySelector('#identifier').value`)).toBe('MCD');
  });

  test('says before the first call that each call is counted, and a fragment makes none', async () => {
    await open('#BRK.B');
    expect(await page.evaluate(`document.querySelector('#identifier').value`)).toBe('BRK.B');
    expect(await page.evaluate('document.body.innerText')).toContain('Each call is real.');
    await page.evaluate(`location.hash = '#lego.com'`);
    await expect.poll(() => page.evaluate(`document.querySelector('#identifier').value`)).toBe('lego.com');
    expect(await calls()).toEqual([]);
    await expectGoodLooks();
  });

  test('makes exactly one call for one click, also for a record that the browser has', async () => {
    await open();
    for (const remaining of [1, 2]) {
      await send('7203.T');
      await expect.poll(async () => (await calls()).length).toBe(remaining);
      await expect.poll(() => page.evaluate(`document.querySelector('#answer').ariaBusy`)).toBe('false');
    }
  });

  test('shows exactly what is left once usage includes the call, whatever the gateway estimates', async () => {
    await open();
    for (const left of ['9 of 10', '8 of 10']) {
      await send('AAPL', { token: tokens.few });
      await expectAnswer(/^200/);
      await expect
        .poll(() => page.evaluate(`document.querySelector('#left').textContent`), { timeout: 50_000 })
        .toBe(`${left} calls left this month`);
    }
  });

  test('aborts the older call when a new one starts, and shows the answer of the new one', async () => {
    await open();
    await page.evaluate('held = true');
    await send('AAPL');
    await send('lego.com');
    expect((await calls()).map(({ isAborted }) => isAborted)).toEqual([true, false]);
    await page.evaluate('held = false');
    await expectAnswer(/^200 OK: LEGO/);
  });

  test('keeps the token only if asked, and never in the address, the title or the history', async () => {
    await open();
    await send('AAPL');
    await expectAnswer(/^200/);
    const kept = () => page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })');
    expect(await kept()).not.toContain(tokens.paid);
    await click('#remember');
    expect(await kept()).toContain(tokens.paid);
    await open();
    expect(await page.evaluate(`document.querySelector('#token').value`)).toBe(tokens.paid);
    await send('AAPL');
    await expectAnswer(/^200/);
    const shown = await page.evaluate<string>(
      'JSON.stringify([location.href, document.title, history.state, document.cookie])',
    );
    expect(shown).not.toContain(tokens.paid);
    await click('#forget');
    await click('#clear');
    expect(await kept()).toBe('{}');
    expect(await page.evaluate(`document.querySelector('#token').value`)).toBe('');
    await send(tokens.paid);
    await expectAnswer(/^404/);
    expect((await kept()) + (await page.evaluate<string>('location.href'))).not.toContain(tokens.paid);
  });

  test('offers the demo token of the installation, and calls with it', async () => {
    await open();
    await click('#demo');
    expect(await page.evaluate(`document.querySelector('#token').value`)).toBe(DEMO_TOKEN);
    await set('identifier', 'AAPL');
    await click('#send');
    await expectAnswer(/^401 Unauthorized/);
  });

  test.each(['.', '..'])(
    'makes no call for %j, which URLs take for a folder, and says so',
    async (identifier) => {
      await open();
      await send(identifier);
      expect(await page.evaluate(`document.querySelector('#identifier').validationMessage`)).toContain(
        'No company has this identifier.',
      );
      expect(await calls()).toEqual([]);
      await send('AAPL');
      await expectAnswer(/^200 OK: Apple/);
    },
  );

  test('shows the token in code only to a visitor who asks for it', async () => {
    const code = () => page.evaluate<string>(`document.querySelector('#code pre').textContent`);
    await open();
    await set('token', tokens.paid);
    expect(await code()).toContain('token=pk_your_token');
    await click('#show-token');
    expect(await code()).toContain(tokens.paid);
    await click('#show-token');
    expect(await code()).not.toContain(tokens.paid);
  });

  test('copies the code that it shows to the clipboard', async () => {
    await open();
    await set('identifier', 'AAPL');
    for (const tab of [0, 1, 2, 3]) {
      await click(`#code-tab-${tab}`);
      await click('#code .copy');
      await expect
        .poll(() => page.evaluate<string>('navigator.clipboard.readText()'))
        .toBe(await page.evaluate<string>(`document.querySelector('#code pre').textContent`));
    }
  });

  test('chooses tabs by the arrow keys', async () => {
    await open();
    await send('AAPL');
    await expectAnswer(/^200/);
    await page.evaluate(`{
      const tab = document.querySelector('#answer [role=tab]');
      tab.focus();
      tab.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
    }`);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('JSON');
    expect(await page.evaluate(`JSON.parse(document.querySelector('pre.json').textContent).name`)).toBe(
      'Apple',
    );
    await expectGoodLooks();
    await page.evaluate(
      `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true }))`,
    );
    expect(await page.evaluate(`document.querySelector('#answer-panel').textContent`)).toContain(
      'x-request-id',
    );
    await expectGoodLooks();
  });

  test.for([
    { language: 'curl', tab: 0, suffix: 'sh', program: 'sh' },
    { language: 'fetch', tab: 1, suffix: 'fetch.mjs', program: process.execPath },
    { language: 'Python', tab: 2, suffix: 'py', program: join(PYTHON_PROGRAMS, 'python') },
    { language: 'the client', tab: 3, suffix: 'client.mjs', program: process.execPath },
  ])('shows code for $language that makes the same call', async ({ tab, suffix, program }, { skip }) => {
    if (suffix === 'py' && !hasPython) skip();
    await buildClientIn(folder);
    await open();
    await set('token', tokens.paid);
    await set('identifier', "Zéphyr & Sons' Air-Lines");
    await click('#show-token');
    await click(`#code-tab-${tab}`);
    const file = join(folder, `call.${suffix}`);
    await writeFile(file, await page.evaluate<string>(`document.querySelector('#code pre').textContent`));
    const { stdout } = await run(program, [file]);
    expect(stdout).toContain('A made-up carrier.');
  });

  test('names addresses in the code for the client where the gateway has it', async () => {
    await open();
    await click('#code-tab-3');
    const code = await page.evaluate<string>(`document.querySelector('#code pre').textContent`);
    const addresses = code.match(/https?:[^\s"]+\/client\.\w+/g) ?? [];
    expect(addresses).toEqual([`${api}/client.tgz`, `${api}/client.js`]);
    for (const address of addresses) expect((await fetch(address)).status).toBe(200);
  });

  test(`loads less than ${MOST_BYTES} bytes, compressed`, async () => {
    await open();
    const size = await page.evaluate<number>(
      `performance.getEntries().filter((entry) => 'encodedBodySize' in entry).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    );
    expect(size).toBeGreaterThan(5_000);
    expect(size).toBeLessThan(MOST_BYTES);
  });

  test.each(['?identifier=brk.b&record=flat#AAPL', '?identifier=AAPL&record=flat'])(
    'fills the form from %s, and makes no call',
    async (address) => {
      await open(address);
      const form = `[document.querySelector('#identifier').value, document.querySelector('#flat').checked]`;
      expect(await page.evaluate(form)).toEqual(['AAPL', true]);
      expect(await calls()).toEqual([]);
    },
  );

  test('gives each call an address to share, and Back and Forward show the answers again without a call', async () => {
    await open();
    const address = () => page.evaluate('location.search + location.hash');
    await send('AAPL');
    await expectAnswer(/^200 OK: Apple/);
    expect(await address()).toBe('?identifier=AAPL');
    await send('lego.com', { variant: 'flat' });
    await expectAnswer(/^200 OK: LEGO/);
    expect(await address()).toBe('?identifier=lego.com&record=flat');
    await page.evaluate('history.back()');
    await expectAnswer(/^200 OK: Apple/, 'Cupertino');
    expect(await page.evaluate(`document.querySelector('#identifier').value`)).toBe('AAPL');
    expect(await page.evaluate(`document.querySelector('#grouped').checked`)).toBe(true);
    await page.evaluate('history.forward()');
    await expectAnswer(/^200 OK: LEGO/, 'Billund');
    await page.evaluate('history.go(-2)');
    await expect.poll(async () => (await answer()).text).toContain('The answer to your call appears here');
    expect(await address()).toBe('');
    expect((await calls()).length).toBe(2);
  });

  test('offers what was asked before, newest first, until the visitor clears it', async () => {
    await page.evaluate('localStorage.clear()');
    const chips = () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('#asked-chips button')].filter((each) => each.checkVisibility()).map(({ textContent }) => textContent)`,
      );
    await open();
    expect(await chips()).toEqual([]);
    const identifiers = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'A'];
    for (const identifier of identifiers) await send(identifier, { token: 'pk_wrong' });
    await send('<b>Zéphyr & Söhne', { token: 'pk_wrong', variant: 'flat' });
    await expectAnswer(/^401/);
    await open();
    const listed = ['<b>Zéphyr & Söhneflat', 'A', 'I', 'H', 'G', 'F', 'E', 'D'];
    expect(await chips()).toEqual(listed);
    await click('#asked-chips button');
    const form = `[document.querySelector('#identifier').value, document.querySelector('#flat').checked]`;
    expect(await page.evaluate(form)).toEqual(['<b>Zéphyr & Söhne', true]);
    await expectGoodLooks();
    await click('#clear');
    expect(await chips()).toEqual([]);
    expect(await page.evaluate('localStorage.length')).toBe(0);
    expect(await calls()).toEqual([]);
  });

  test.each([360, 1_280])('leads to the answer when a call is sent, in a window of %i px', async (width) => {
    await open();
    await page.show({ theme: 'light', width, height: 740 });
    await page.evaluate('scrollTo(0, 0)');
    await send('AAPL');
    await expectAnswer(/^200/);
    expect(await page.evaluate('document.activeElement.id')).toBe('answer-heading');
    const top = `document.querySelector('#answer-heading').getBoundingClientRect().top`;
    expect(await page.evaluate(top)).toBeGreaterThanOrEqual(0);
    expect(await page.evaluate(top)).toBeLessThan(740);
  });

  test.each([360, 1_280])(
    'goes through the form by Tab as it is drawn, in a window of %i px',
    async (width) => {
      await open('#AAPL');
      await page.show({ theme: 'light', width });
      await page.evaluate(`document.querySelector('#token').focus()`);
      const seen: { id: string; top: number; bottom: number; left: number; right: number }[] = [];
      const focused = `(({ id, textContent }, { top, bottom, left, right }) => ({ id: id || textContent, top: top + scrollY, bottom: bottom + scrollY, left, right }))(document.activeElement, (document.activeElement.closest('.segments') ?? document.activeElement).getBoundingClientRect())`;
      while (seen.at(-1)?.id !== 'send' && seen.length < 40) {
        seen.push(await page.evaluate(focused));
        await page.press('Tab');
      }
      expect(seen.map(({ id }) => id)).toEqual(
        expect.arrayContaining([
          'token',
          'remember',
          'demo',
          'forget',
          'identifier',
          'AAPL',
          'grouped',
          'send',
        ]),
      );
      const backwards = seen.filter((each, index) => {
        const before = seen[index - 1];
        return before && each.top < before.bottom && each.left < before.right;
      });
      expect(backwards).toEqual([]);
    },
  );

  describe('while somebody types', () => {
    async function openWithSearches(token = tokens.paid): Promise<void> {
      await open();
      await set('token', token);
      await page.evaluate('searches = []');
    }

    test('the arrow keys go through the suggestions, Enter takes one into the field, and no call is made', async () => {
      await openWithSearches();
      await type('app');
      await answerSearch(0, ['Apple', 'AppLovin']);
      await expect
        .poll(suggested)
        .toMatchObject({ isOpen: true, names: ['Apple', 'AppLovin'], active: null });
      expect((await answer()).status).toBe('2 suggestions below the field.');
      await expectGoodLooks();
      const activeAfter = async (key: 'ArrowDown' | 'ArrowUp') => {
        await page.press(key);
        return (await suggested()).active;
      };
      for (const name of ['Apple', 'AppLovin', null, 'Apple'])
        expect(await activeAfter('ArrowDown')).toBe(name);
      for (const name of [null, 'AppLovin', 'Apple']) expect(await activeAfter('ArrowUp')).toBe(name);
      await page.press('Enter');
      expect(await suggested()).toMatchObject({ isOpen: false, text: 'unheard-of-Apple' });
      expect(await page.evaluate(`document.querySelector('#route').textContent`)).toBe(
        'GET /v1/brands/unheard-of-Apple',
      );
      expect(await page.evaluate('document.activeElement.id')).toBe('identifier');
      expect(await calls()).toEqual([]);
      await page.press('Enter');
      await expectAnswer(/^404/);
      expect((await calls()).map(({ path }) => path)).toEqual(['/v1/brands/unheard-of-Apple']);
    });

    test('companies of the catalogue are suggested, and the one that is taken is the one that answers', async () => {
      await open();
      await set('token', tokens.paid);
      await type('mcdon');
      await expect.poll(async () => (await suggested()).names).toContain("McDonald's");
      await expectGoodLooks();
      while ((await suggested()).active !== "McDonald's") await page.press('ArrowDown');
      await page.press('Enter');
      expect((await suggested()).isOpen).toBe(false);
      expect(await calls()).toEqual([]);
      await page.press('Enter');
      await expectAnswer(/^200 OK: McDonald's/);
    });

    test('Escape and Tab close the list and keep the text, and an arrow key opens it again', async () => {
      await openWithSearches();
      await type('app');
      await answerSearch(0, ['Apple', 'AppLovin']);
      await expect.poll(suggested).toMatchObject({ isOpen: true });
      await page.press('Escape');
      expect(await suggested()).toMatchObject({ isOpen: false, text: 'app' });
      await page.press('ArrowUp');
      await answerSearch(1, ['Apple', 'AppLovin']);
      await expect.poll(suggested).toMatchObject({ isOpen: true, active: 'AppLovin' });
      await page.press('Tab');
      expect(await suggested()).toMatchObject({ isOpen: false, text: 'app' });
    });

    test('a click takes a suggestion, and the field keeps the focus', async () => {
      await openWithSearches();
      await type('app');
      await answerSearch(0, ['Apple', 'AppLovin']);
      await expect.poll(suggested).toMatchObject({ isOpen: true });
      await page.clickOn('#companies [role=option]:last-child');
      expect(await suggested()).toMatchObject({ isOpen: false, text: 'unheard-of-AppLovin' });
      expect(await page.evaluate('document.activeElement.id')).toBe('identifier');
      expect(await calls()).toEqual([]);
    });

    test('only the newest text has suggestions: its search aborts the older ones, and their late answers are ignored', async () => {
      await openWithSearches();
      for (const [index, text] of ['a', 'ap', 'app'].entries()) {
        await type(text);
        await expect.poll(async () => (await searchedTexts()).length).toBe(index + 1);
      }
      expect(await searchedTexts()).toEqual(['a', 'ap', 'app']);
      expect(await page.evaluate('searches.map(({ signal }) => signal.aborted)')).toEqual([
        true,
        true,
        false,
      ]);
      await answerSearch(2, ['Newest']);
      await expect.poll(suggested).toMatchObject({ isOpen: true, names: ['Newest'] });
      await answerSearch(0, ['Oldest']);
      await answerSearch(1, ['Older']);
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => done()))');
      expect(await suggested()).toMatchObject({ isOpen: true, names: ['Newest'] });
    });

    test('one search is made for letters that follow one another at once', async () => {
      await openWithSearches();
      await page.evaluate(`{
        const field = document.querySelector('#identifier');
        field.focus();
        for (const text of ['a', 'ap', 'app']) {
          field.value = text;
          field.dispatchEvent(new Event('input', { bubbles: true }));
        }
      }`);
      await answerSearch(0, ['Apple']);
      await expect.poll(suggested).toMatchObject({ isOpen: true, names: ['Apple'] });
      expect(await searchedTexts()).toEqual(['app']);
    });

    test('a search that fails or finds nothing closes the list and says nothing, and without a token there is none', async () => {
      await openWithSearches();
      for (const [index, failure] of ['"{}", { status: 429 }', '"no JSON"', `'{"companies":[]}'`].entries()) {
        await type(`app${index}`);
        await answerSearch(2 * index, ['Apple']);
        await expect.poll(suggested).toMatchObject({ isOpen: true });
        await type(`apple${index}`);
        await expect.poll(async () => (await searchedTexts()).length).toBe(2 * index + 2);
        await page.evaluate(`searches[${2 * index + 1}].answer(${failure})`);
        await expect.poll(suggested).toMatchObject({ isOpen: false });
      }
      await openWithSearches('');
      await type('app');
      // Timers fire in their order, so a search that the page had planned has begun when this one has fired.
      await page.evaluate('new Promise((done) => setTimeout(done, 1_000))');
      expect(await searchedTexts()).toEqual([]);
      expect(await page.evaluate('violations')).toEqual([]);
    });

    test('an answer that comes when the visitor has left the field opens nothing', async () => {
      await openWithSearches();
      await type('app');
      await expect.poll(searchedTexts).toEqual(['app']);
      await page.press('Tab');
      await answerSearch(0, ['Apple']);
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => done()))');
      expect(await suggested()).toMatchObject({ isOpen: false });
    });
  });

  test('shows every string of a record as text, and links to no script', async () => {
    await open();
    const dangerous = fc.constantFrom(
      '"><img src=x onerror="window.hacked=1">',
      '<script>window.hacked=1</script>',
      'javascript:window.hacked=1',
      ' JaVaScRiPt:window.hacked=1',
      'data:text/html,<script>window.hacked=1</script>',
      "https://x/'onmouseover='window.hacked=1",
      '</code></pre><svg onload=window.hacked=1>',
    );
    const text = fc.tuple(fc.string({ unit: 'grapheme', maxLength: 8 }), dangerous).map(([a, b]) => a + b);
    const records = [
      ['grouped', groupedAnswer(fullStock, '')],
      ['grouped', groupedAnswer(fullManager, '')],
      ['flat', flatAnswer(bareMerchant, '')],
    ] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...records),
        fc.oneof(dangerous, text),
        async ([variant, record], hostile) => {
          const body = JSON.stringify(record, (key, value) =>
            typeof value === 'string' && key !== 'type' ? hostile : value,
          );
          await page.evaluate(
            `window.fetch = async () => new Response(${JSON.stringify(body)}, { headers: { 'Content-Type': 'application/json' } })`,
          );
          await page.evaluate(`document.querySelector('#answer').replaceChildren()`);
          await send('hostile', { variant });
          await expect
            .poll(() => page.evaluate(`document.querySelector('#record-name')?.textContent`))
            .toBe(hostile);
          const bad = await page.evaluate(
            `[...document.querySelectorAll('#answer *')].filter((each) => each.matches('script, iframe, object, embed, style') || [...each.attributes].some(({ name }) => name.startsWith('on') || name === 'style') || (each.matches('a') && !['http:', 'https:'].includes(each.protocol))).map((each) => each.outerHTML)`,
          );
          expect(bad).toEqual([]);
          expect(await page.evaluate('window.hacked === undefined')).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('explains an outage, and a call that gets no answer', async () => {
    await open();
    await stack.kill('catalog');
    await send('Nintendo');
    await expectAnswer(/^503 Service Unavailable/, 'The service asks to wait 1 second');
    await expectGoodLooks();
    await stack.kill('gateway-1');
    await send('AAPL');
    await expectAnswer(/^No answer: .*Unknown whether this call was counted/, 'No answer arrived');
    await expectGoodLooks();
  });
});

const run = (program: string, args: readonly string[]) =>
  promisify(execFile)(program, args, { timeout: 60_000 });
