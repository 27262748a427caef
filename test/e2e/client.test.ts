import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BrandData, type BrandDataError } from '@brand-data/client/source';
import { dataFacts, matchOf } from '@brand-data/client/src/answer.ts';
import { BrandType, MatchKind, MatchStrength } from '@brand-data/contracts';
import { brandDataOf, brandMatchOf } from '@brand-data/gateway/src/records/records.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { buildClientIn, clientExamples } from './built-client.ts';
import { fullStock, groupedAnswer } from './fixtures.ts';
import { TestOperator } from './operator.ts';

/** What the examples of the client's page ask for. */
const APPLE = {
  id: 'apple',
  type: BrandType.STOCK,
  name: 'Apple',
  category: 'technology',
  rank: 900,
  description: 'Made up.',
  listings: [{ ticker: 'AAPL', mic: 'XNAS', primary: true }],
  domains: ['apple.com'],
  company: { ceo: 'A. Person' },
};

describe('the match', () => {
  /** No identifier has control characters. */
  const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme-ascii' }));
  const values = texts.filter((text) => !/\p{Cc}/u.test(text));

  test('is the one that the gateway wrote, whatever the value', () => {
    fc.assert(
      fc.property(values, (value) => {
        const match = { kind: MatchKind.NAME, value, strength: MatchStrength.LEGAL_FORM };
        const headers = new Headers({ 'Brand-Match': brandMatchOf(match) });
        expect(matchOf(headers)).toEqual({ kind: 'name', value, strength: 'legal_form' });
      }),
    );
  });
});

test('the client reads back the sources and days that the gateway wrote, whatever they are called', () => {
  const day = fc.constantFrom(undefined, '2026', '2026-08-21');
  const name = fc.string({ unit: 'binary', maxLength: 16 }).filter((text) => !/\p{Cc}/u.test(text));
  const sources = fc.uniqueArray(fc.record({ name, date: day, oldest: fc.constantFrom(undefined, '2024') }), {
    maxLength: 4,
    selector: (source) => source.name.toWellFormed(),
  });
  fc.assert(
    fc.property(sources, day, (written, priceDate) => {
      const given = written.map(({ name, date, oldest }) => ({
        name: name.toWellFormed(),
        date,
        oldest: date === undefined ? undefined : oldest,
      }));
      const stated = given.flatMap(({ name, ...days }) =>
        [days.oldest, days.date].map((date) => ({ name, date: date ?? '' })),
      );
      const read = dataFacts(new Headers(brandDataOf(stated, priceDate)));
      expect(read).toEqual({
        sources: given,
        priceDate,
        lastModified: undefined,
      });
    }),
  );
});

describe('the client', () => {
  let stack: TestStack;
  let operator: TestOperator;
  let url: string;

  beforeAll(async () => {
    stack = await startTestStack({ gateways: 1 });
    operator = new TestOperator(stack);
    url = stack.gateways[0]?.url ?? '';
    await operator.putBrands([fullStock, APPLE]);
  });
  afterAll(async () => {
    operator?.close();
    await stack?.stop();
  });

  const clientOf = (token: string) => new BrandData({ api: url, token });
  const failureOf = (call: Promise<unknown>): Promise<BrandDataError> =>
    call.then(
      () => expect.fail('the call did not fail'),
      (error) => error,
    );

  test('gives both records of a company with their match, charge and quota', async () => {
    const { token } = await operator.newAccount(100);
    const client = clientOf(token);
    const grouped = await client.brand('ZPHX.DE');
    expect(grouped.data).toEqual(groupedAnswer(fullStock, stack.images[0]?.url ?? ''));
    expect(grouped).toMatchObject({ charged: true, match: { kind: 'ticker', strength: 'exact' } });
    expect(grouped.quota?.allowance).toBe(100);
    const flat = await client.logo('zephyr.example.com');
    expect(flat.data).toMatchObject({ type: 'stock', name: grouped.data.name, wikipedia: null });
    expect(flat.match).toEqual({ kind: 'domain', value: 'zephyr.example.com', strength: 'exact' });
  });

  test('makes no second call for a record in memory, as the usage shows', async () => {
    const { token, accountId } = await operator.newAccount(100);
    const client = clientOf(token);
    await client.logo('AAPL');
    expect((await client.logo('AAPL')).charged).toBe(false);
    expect((await operator.usage(accountId)).map(({ used }) => Number(used))).toEqual([1]);
  });

  test('tells the account its usage, which the question does not change', async () => {
    const { token, accountId } = await operator.newAccount(100);
    const client = clientOf(token);
    await client.logo('AAPL');
    await expect.poll(async () => (await client.usage()).data.pools[0]?.used).toBe(1);
    const { data } = await client.usage();
    expect(data).toMatchObject({ account: accountId, pools: [{ pool: 'calls', allowance: 100 }] });
  });

  test('reports a miss as charged, with suggestions', async () => {
    const { token } = await operator.newAccount(100);
    const error = await failureOf(clientOf(token).logo('Appel'));
    expect(error).toMatchObject({ status: 404, code: 'identifier_not_found', charged: true });
    expect(error.requestId).toMatch(/^[\da-f-]{36}$/);
    expect(Array.isArray(error.suggestions)).toBe(true);
  });

  test('reports a bad token, a plan without the route and a used-up quota by their codes', async () => {
    expect(await failureOf(clientOf('pk_wrong').logo('AAPL'))).toMatchObject({
      status: 401,
      code: 'token_invalid',
      charged: undefined,
    });
    const { token } = await operator.newAccount(1);
    const client = clientOf(token);
    await client.logo('AAPL');
    const error = await failureOf(client.brand('AAPL'));
    expect(error).toMatchObject({ status: 429, code: 'quota_exceeded', charged: false });
    expect(error.retryAfter).toBeGreaterThan(0);
  });

  test('runs every example of its page in Node', async () => {
    const { token } = await operator.newAccount(100);
    const folder = await temporaryFolder();
    await buildClientIn(folder);
    const examples = await clientExamples('js', { url, token });
    expect(examples.length).toBeGreaterThan(0);
    for (const [index, example] of examples.entries()) {
      const file = join(folder, `example-${index}.mjs`);
      await writeFile(file, example);
      const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 60_000 });
      expect(stdout).toContain('Apple');
    }
  });
});
