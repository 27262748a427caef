import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogAdminServiceClient } from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelFrom } from '@brand-data/runtime/test/channel-as.ts';
import { brandOf } from '@brand-data/testing/brand-of';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { type Caller, callerOf } from './caller.ts';
import { TestOperator } from './operator.ts';

let stack: TestStack;
let operator: TestOperator;
let callers: Caller[];
let token: string;

beforeAll(async () => {
  stack = await startTestStack({ gateways: 2 });
  operator = new TestOperator(stack);
  callers = stack.gateways.map(callerOf);
  ({ token } = await operator.newAccount(1_000_000));
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

const company = (name: string, more: object = {}) =>
  brandOf(name.toLowerCase().replaceAll(' ', '-'), { name, ...more });

/** Returns the id and the description that each gateway answers with. */
async function answers(identifier: string): Promise<string[]> {
  return Promise.all(
    callers.map(async (caller) => {
      const response = await caller.brand(identifier, token);
      const { name, description } = (await response.json()) as { name?: string; description?: string };
      return response.status === 404 ? '404' : `${name}: ${description}`;
    }),
  );
}

const both = (answer: string) => [answer, answer];

/** Returns the sum of a metric at both gateways. */
const metric = (name: string, labels?: Record<string, string>) =>
  stack.metric(['gateway-1', 'gateway-2'], name, labels);

const lookUps = () => metric('gateway_lookup_batch_queries_sum');

test('a change reaches every gateway, and what does not depend on it is not looked up again', async () => {
  await operator.putBrands([company('Quillon'), company('Brantley')]);
  expect(await answers('Quillon')).toEqual(both('Quillon: quillon is a brand.'));
  expect(await answers('Brantley')).toEqual(both('Brantley: brantley is a brand.'));
  expect(await answers('Brantley Foods')).toEqual(both('404'));
  await operator.putBrands([company('Quillon', { description: 'Quillon has changed.' })]);
  await expect.poll(() => answers('Quillon')).toEqual(both('Quillon: Quillon has changed.'));
  const before = await lookUps();
  expect(await answers('Brantley')).toEqual(both('Brantley: brantley is a brand.'));
  expect(await answers('Brantley Foods')).toEqual(both('404'));
  expect(await lookUps()).toBe(before);
});

test('a new record turns a cached 404 into a hit, and a better known one takes its name over', async () => {
  expect(await answers('Fennimore')).toEqual(both('404'));
  await operator.putBrands([company('Fennimore', { rank: 310 })]);
  await expect.poll(() => answers('Fennimore')).toEqual(both('Fennimore: fennimore is a brand.'));
  await operator.putBrands([
    { ...company('Fennimore', { rank: 800 }), id: 'fennimore-2', name: 'FENNIMORE' },
  ]);
  await expect.poll(() => answers('Fennimore')).toEqual(both('FENNIMORE: fennimore is a brand.'));
});

test('a deleted record is answered 404', async () => {
  await operator.putBrands([company('Ostrander')]);
  expect(await answers('Ostrander')).toEqual(both('Ostrander: ostrander is a brand.'));
  await stack.bds('delete', 'ostrander', '--yes');
  await expect.poll(() => answers('Ostrander')).toEqual(both('404'));
});

test("an operator's value is answered", async () => {
  await operator.putBrands([company('Wetherby')]);
  expect(await answers('Wetherby')).toEqual(both('Wetherby: wetherby is a brand.'));
  await stack.bds('set', 'wetherby', 'description=Set by hand.', '--reason', 'a test');
  await expect.poll(() => answers('Wetherby')).toEqual(both('Wetherby: Set by hand.'));
});

test('an import of thousands of records expires none that it does not change, and all that it does', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'companies.ndjson');
  const line = (number: number, description: string) =>
    JSON.stringify({
      id: `thorpe-${number}`,
      type: 'brand',
      name: `Thorpe ${number}`,
      description,
      category: 'brand',
      rank: 500,
      sources: [{ name: 'made up', url: 'https://example.com/', licence: 'CC0', date: '2026-11' }],
    });
  const importAll = async (description: string) => {
    const lines = Array.from({ length: 5_000 }, (_, number) => line(number, description));
    await writeFile(file, `${lines.join('\n')}\n`);
    await stack.bds('import', 'records', file, '--source', 'thorpe');
  };
  try {
    await operator.putBrands([company('Quillon'), company('Brantley')]);
    await importAll('As it was.');
    const names = [0, 1_234, 4_999].map((number) => `Thorpe ${number}`);
    for (const name of names) await expect.poll(() => answers(name)).toEqual(both(`${name}: As it was.`));
    await answers('Brantley');
    const expiries = await metric('gateway_record_full_expiries_total');
    await importAll('As it is.');
    for (const name of names) await expect.poll(() => answers(name)).toEqual(both(`${name}: As it is.`));
    const before = await lookUps();
    await answers('Brantley');
    expect(await lookUps()).toBe(before);
    expect(await metric('gateway_record_full_expiries_total')).toBe(expiries);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a change whose announcement is lost with its replica of catalog is answered all the same', async () => {
  const { operatorToken, catalog: target } = stack.operator;
  const admin = connectChannel(
    CatalogAdminServiceClient,
    target,
    channelFrom(stack.certificates, 'bds', 'catalog'),
  );
  const put = (description: string) =>
    callUnary(
      admin,
      admin.putBrands,
      {
        source: 'test',
        importId: 'x',
        dryRun: false,
        onlyJoining: false,
        brands: [company('Ravensworth', { description })],
      },
      { deadlineMs: 10_000, operatorToken, waitForReady: true },
    );
  const missed = () => metric('gateway_record_full_expiries_total', { reason: 'missed_message' });
  try {
    await put('At first.');
    await expect.poll(() => answers('Ravensworth')).toEqual(both('Ravensworth: At first.'));
    const before = await missed();
    for (let round = 0; (await missed()) === before && round < 10; round++) {
      // The first change is announced at once, and the second one a second later, so that the replica is killed before that.
      await put(`Change ${round}.`);
      await put(`Changed again, ${round}.`);
      await stack.kill('catalog');
      await stack.restart('catalog');
      await expect.poll(() => answers('Ravensworth')).toEqual(both(`Ravensworth: Changed again, ${round}.`));
    }
    expect(await missed()).toBeGreaterThan(before);
  } finally {
    admin.close();
  }
});
