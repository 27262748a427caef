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

/** Notes the calls, which wait while `held` is true. */
const WATCH = `
const call = fetch;
Object.assign(window, { calls: [], held: false });
window.fetch = async (url, init) => {
  const made = { path: new URL(url).pathname, isAborted: false };
  calls.push(made);
  init.signal.addEventListener('abort', () => { made.isAborted = true; });
  while (held && !init.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 10));
  return call(url, init);
};
`;

const MOST_BYTES = 300_000;
/** Well-formed, but of no account. */
const DEMO_TOKEN = `pk_${'a'.repeat(32)}`;
const NARROW_PLAN = 'playground-logos';

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
  const tokens = { paid: '', logos: '', small: '' };

  beforeAll(async () => {
    folder = await temporaryFolder();
    stack = await startSampleStack({ DEMO_TOKEN });
    api = stack.gateways[0]?.url ?? '';
    const operator = new TestOperator(stack);
    try {
      await operator.putBrands([fullStock]);
      tokens.paid = (await operator.newAccount(10_000)).token;
      tokens.small = (await operator.newAccount(1)).token;
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
      await expectAnswer(/^200 OK: .*was counted.*calls left this month/, 'Why this record', ...texts);
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
    const left = async () => Number(/([\d,]+) of/.exec((await answer()).text)?.[1]?.replaceAll(',', ''));
    const before = await left();
    await click('#send');
    await expect.poll(left).toBe(before - 1);
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
    expect(await kept()).toBe('{}');
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
    expect(await kept()).toBe('{}');
    expect(await page.evaluate(`document.querySelector('#token').value`)).toBe('');
  });

  test('offers the demo token of the installation, and calls with it', async () => {
    await open();
    await click('#demo');
    expect(await page.evaluate(`document.querySelector('#token').value`)).toBe(DEMO_TOKEN);
    expect(await page.evaluate(`document.querySelector('#code pre').textContent`)).toContain(DEMO_TOKEN);
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
    await click(`#code-tab-${tab}`);
    const file = join(folder, `call.${suffix}`);
    await writeFile(file, await page.evaluate<string>(`document.querySelector('#code pre').textContent`));
    const { stdout } = await run(program, [file]);
    expect(stdout).toContain('A made-up carrier.');
  });

  test(`loads less than ${MOST_BYTES} bytes`, async () => {
    await open();
    const size = await page.evaluate<number>(
      `performance.getEntries().filter((entry) => 'encodedBodySize' in entry).reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)`,
    );
    expect(size).toBeGreaterThan(10_000);
    expect(size).toBeLessThan(MOST_BYTES);
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
