import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { zipOf } from '@brand-data/importers/test/zip-of.ts';
import { closingText } from '@brand-data/local';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSchemathesis } from '../openapi/schemathesis.ts';
import { pageAt } from '../pages/pages.ts';
import { hasPython } from '../python/python.ts';
import { callerOf } from './caller.ts';
import { TestOperator } from './operator.ts';
import { type SampleStack, startSampleStack } from './sample-stack.ts';

const readme = pageAt('README.md');
const gatewayPage = pageAt('services/gateway/README.md');

describe('the service does what the pages show', () => {
  let stack: SampleStack;
  let operator: TestOperator;
  let gateway: { url: string };
  let token: string;

  beforeAll(async () => {
    stack = await startSampleStack();
    operator = new TestOperator(stack);
    const [first] = stack.gateways;
    if (first === undefined) throw new Error('a gateway is needed');
    gateway = first;
    ({ token } = await operator.newAccount(100_000));
  });
  afterAll(async () => {
    operator?.close();
    await stack?.stop();
  });

  const pathIn = (command: string) => /https?:\/\/[^/]+(\/[^?"']+)\?token=\$TOKEN/.exec(command)?.[1];
  const ask = (path: string, init?: RequestInit) =>
    fetch(`${gateway.url}${path}?token=${token}`, { signal: AbortSignal.timeout(10_000), ...init });

  const examples = [readme, gatewayPage].flatMap(({ blocks, path: page }) =>
    blocks.flatMap(({ language, text }, index) => {
      const path = pathIn(text);
      const next = blocks[index + 1];
      return language === 'sh' && path !== undefined && next?.language === 'json'
        ? [{ page, path, record: next.text }]
        : [];
    }),
  );

  test('the pages show one record of each route', () => {
    expect(examples.map(({ path }) => path.split('/')[1])).toEqual(['api', 'v1']);
  });

  test.each(examples)('the record in $page is the answer of $path, key by key', async (example) => {
    const { path, record } = example;
    const logoHost = /https?:\/\/127\.0\.0\.1:\d+\/images/.exec(record)?.[0] ?? '';
    // On a busy machine the first call may not be answered in time. Therefore the test tries again, as a caller would.
    await expect.poll(async () => (await ask(path)).status).toBe(200);
    const answer = (await (await ask(path)).text()).replaceAll(stack.logoHost, logoHost);
    expect(JSON.stringify(JSON.parse(answer), null, 2)).toBe(JSON.stringify(JSON.parse(record), null, 2));
  });

  test('an answer has exactly the headers that the gateway’s page shows', async () => {
    const block = gatewayPage.blocks.find(({ text }) => text.startsWith('$ curl -sI ')) ?? { text: '' };
    const [command = '', status, ...lines] = block.text.trim().split('\n');
    const shown = Object.fromEntries(
      lines.map((line) => {
        const [name = '', ...value] = line.split(': ');
        return [name.toLowerCase(), value.join(': ')];
      }),
    );
    const answer = await head(`${gateway.url}${pathIn(command)}?token=${token}`);
    expect(`HTTP/${answer.httpVersion} ${answer.statusCode} ${answer.statusMessage}`).toBe(status);
    expect(withoutFigures(answer.headers)).toEqual(withoutFigures(shown));
  });

  test('the gateway’s page shows the error of a used-up quota, whose type links to a page', async () => {
    const example =
      gatewayPage.blocks.find(({ text }) => text.includes('"code": "quota_exceeded"'))?.text ?? '';
    const account = await operator.newAccount(5);
    const caller = callerOf(gateway);
    for (let call = 0; call < 5; call++) await caller.brand('AAPL', account.token);
    const answer = await (await caller.brand('AAPL', account.token)).text();
    expect(withoutHost(answer)).toBe(withoutHost(example));

    const type = new URL(JSON.parse(answer).type);
    expect(await (await fetch(type)).text()).toContain(`id="${type.hash.slice(1)}"`);
  });

  test('the page of errors lists every error code with its status, and no other code', async () => {
    const served = await (await fetch(`${gateway.url}/docs/errors`)).text();
    const codes = [...served.matchAll(/<code>(\w+)<\/code> \((\d+)\)/g)].map(([, code, status]) => [
      code,
      status,
    ]);
    const rows = [...gatewayPage.markdown.matchAll(/^\| (\d{3}) +\| `(\w+)` +\|/gm)];
    const documented = rows.map(([, status, code]) => [code, status]);
    expect(codes.length).toBeGreaterThan(5);
    expect(documented.toSorted()).toEqual(codes.toSorted());
  });

  test('the operator’s commands in README work, and the gateway’s page shows the account’s usage correctly', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'my-companies.ndjson'), `${JSON.stringify(RECORD)}\n`);
    await writeFile(
      join(folder, 'companies.csv'),
      'company,site,sector\nDocs Mill,https://docs-mill.example/,Materials\n',
    );
    await mkdir(join(folder, 'FinanceDatabase'));
    await writeFile(
      join(folder, 'FinanceDatabase', 'LSE.csv'),
      'symbol,name,mic,country,isin,shareclass_figi\nDOCX.L,Docs Exchange plc,XLON,United Kingdom,,\n',
    );
    await writeFile(join(folder, 'latest-all.json.gz'), gzipSync('[\n]\n'));
    await writeFile(
      join(folder, 'company_tickers_exchange.json'),
      '{"fields":["cik","name","ticker","exchange"],"data":[[901,"Docs Inc.","DCSX","Nasdaq"]]}',
    );
    await writeFile(join(folder, 'submissions.zip'), zipOf({ 'placeholder.txt': '' }));
    await writeFile(
      join(folder, 'sources.yaml'),
      `sources: [{ name: list, kind: records, files: [{ from: ${join(folder, 'my-companies.ndjson')} }], schedule: "0 6 * * *" }]`,
    );
    await writeFile(join(folder, 'closes.csv'), 'symbol,price,currency\nDOCX.L,2.5,GBP\n');
    const lines = [...readme.markdown.matchAll(/^npm run bds -- (.*)$/gm)].map(([, line = '']) => line);
    expect(lines.length).toBeGreaterThanOrEqual(10);
    for (const line of lines) {
      const args = wordsOf(line).map((word) => (existsSync(join(folder, word)) ? join(folder, word) : word));
      await stack.bds(...args);
    }

    const [, example = ''] = /GET \/v1\/usage.*?```json\n(.*?)```/s.exec(gatewayPage.markdown) ?? [];
    const { account } = JSON.parse(example);
    const key = (await stack.bds('key', 'create', account, '--label', 'docs')) as { token: string };
    const caller = callerOf(gateway);
    for (let call = 0; call < 3; call++) {
      expect((await caller.brand(RECORD.name, key.token)).status).toBe(200);
    }
    const answer = async () => {
      const response = await fetch(`${gateway.url}/v1/usage?token=${key.token}`);
      return withoutDates(await response.text());
    };
    await expect.poll(answer).toBe(withoutDates(example));
  });

  test.each(['/v1/brands/{identifier}', '/api/logos/{identifier}/info'])(
    'the examples in the OpenAPI document are the answers of %s',
    async (path) => {
      const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as OpenApi;
      const { responses } = paths[path]?.get ?? { responses: {} };
      const { examples = {} } = responses['200']?.content['application/json'] ?? {};
      expect(Object.keys(examples).length).toBeGreaterThanOrEqual(2);
      const askFor = (identifier: string) =>
        ask(path.replace('{identifier}', encodeURIComponent(identifier)));
      for (const [identifier, { value }] of Object.entries(examples)) {
        await expect.poll(async () => (await askFor(identifier)).status).toBe(200);
        const answer = await (await askFor(identifier)).json();
        expect(withoutKeyedMarks(answer)).toBe(withoutKeyedMarks(value));
      }
      const problems = responses['404']?.content['application/problem+json']?.examples ?? {};
      const { detail, ...miss } = problems.identifier_not_found?.value ?? {};
      // On a busy machine catalog may give up its search for suggestions, and the gateway keeps that answer for 10 s.
      const suggested = async () => (await (await askFor('mcdonlads')).json()) as Record<string, unknown>;
      await expect
        .poll(suggested, { timeout: 40_000 })
        .toMatchObject({ ...miss, request_id: expect.any(String) });
      if (path.startsWith('/api/')) expect(await suggested()).toMatchObject({ detail });
    },
    60_000,
  );

  test('the example of a search is the answer', async () => {
    const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as OpenApi;
    const { examples = {} } = paths['/v1/search']?.get.responses['200']?.content['application/json'] ?? {};
    expect(Object.keys(examples).length).toBeGreaterThan(0);
    for (const [text, { value }] of Object.entries(examples)) {
      const found = async () => (await fetch(`${gateway.url}/v1/search?q=${text}&token=${token}`)).json();
      await expect.poll(found).toEqual(value);
    }
  });

  test.skipIf(!hasPython)(
    'Schemathesis finds no answer that differs from the OpenAPI document',
    { timeout: 600_000 },
    async () => {
      const { OPENAPI_CASES } = process.env;
      // A run with all cases has a new seed each time.
      const options = OPENAPI_CASES ? { cases: Number(OPENAPI_CASES) } : { cases: 100, seed: 1 };
      const run = await runSchemathesis(gateway, token, options);
      expect(run.failures, run.output).toEqual([]);
      expect(run.errors, run.output).toEqual([]);
      expect(run.cases).toBeGreaterThanOrEqual(options.cases);
    },
  );

  test('npm start prints the last lines that README shows', () => {
    const shown = readme.blocks.find(({ text }) => text.includes('pk_…'))?.text ?? '';
    const demo = {
      gateways: ['http://127.0.0.1:8080'],
      tokens: { paid: 'pk_…', free: 'pk_…', small: 'pk_…' },
      nats: '',
      mongodb: '',
    };
    const inWords = (text: string) => text.trim().replaceAll(/[ ]+/g, ' ');
    expect(inWords(closingText(demo, '.local', 'http://127.0.0.1:8120/'))).toContain(inWords(shown));
    // bds finds another folder's stack only if it is told.
    const elsewhere = closingText(demo, '/data', 'http://127.0.0.1:8120/');
    expect(elsewhere.match(/\S* ?npm run bds/g)).toEqual(
      Array(2).fill("BDS_STACK='/data/operator.json' npm run bds"),
    );
  });
});

interface Examples {
  examples?: Record<string, { value: Record<string, unknown> }>;
}

interface OpenApi {
  paths: Record<string, { get: { responses: Record<string, { content: Record<string, Examples> }> } }>;
}

const RECORD = {
  id: 'acme',
  type: 'brand',
  name: 'Zephyr Lantern Works',
  description: 'Zephyr Lantern Works makes lanterns.',
  category: 'lighting',
  rank: 100,
  sources: [{ name: 'hand-written' }],
};

/** The values of these headers differ between calls, so the test compares only their form. */
const VARYING: Record<string, RegExp> = {
  'content-length': /^\d+$/,
  date: /^\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/,
  etag: /^"[\w-]{20,}"$/,
  ratelimit: /^"month";r=\d+;t=\d+$/,
  'ratelimit-policy': /^"month";q=100000;w=\d+$/,
  'last-modified': /^\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/,
  'x-request-id': /^[0-9a-f-]{36}$/,
};

function withoutFigures(headers: IncomingMessage['headers']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const form = VARYING[name];
      return [name, form?.test(String(value)) ? form.source : value];
    }),
  );
}

/** Sends a HEAD request without Accept-Encoding, as curl does. `fetch` would add this header. */
function head(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'HEAD', timeout: 10_000 }, (response) => {
      response.resume();
      resolve(response);
    });
    call.once('timeout', () => call.destroy(new Error('no answer')));
    call.once('error', reject).end();
  });
}

/** Formats a problem without its host and request id, so that problems can be compared. */
function withoutHost(problem: string): string {
  const { type, request_id: _, ...rest } = JSON.parse(problem);
  const { pathname, hash } = new URL(type);
  return JSON.stringify({ type: pathname + hash, ...rest }, null, 2);
}

/** Returns a record as text, without the mark at the end of a monogram's path: each installation has its own key. */
function withoutKeyedMarks(record: unknown): string {
  return JSON.stringify(record, null, 2).replace(/(?<=\/monograms\/[^"]*-)[0-9a-f]{16}/g, '<mark>');
}

/** Formats an answer about usage without its month, days and keys, so that answers can be compared. */
function withoutDates(usage: string): string {
  return JSON.stringify(
    JSON.parse(usage, (name, value) => (['month', 'day', 'key'].includes(name) ? typeof value : value)),
    null,
    2,
  );
}

/** Splits a command line into words, as a shell does. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
}
