import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { bareMerchant } from './fixtures.ts';
import { TestOperator } from './operator.ts';

/** Gateways show a new logo within 5 s. The bound is generous, because busy machines run this test too. */
const SHOWN = { timeout: 20_000 };

let stack: TestStack;
let operator: TestOperator;
let token: string;
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 2 });
  operator = new TestOperator(stack);
  await operator.putBrands([{ ...bareMerchant, id: 'logo-of-test', name: 'Zephyrion' }]);
  ({ token } = await operator.newAccount(1_000_000));
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

/** Returns the flat record's logo, from each gateway. */
function logos(): Promise<unknown[]> {
  return Promise.all(
    stack.gateways.map(async (gateway) => {
      const response = await callerOf(gateway).logo('Zephyrion', token);
      return Object(await response.json()).logo;
    }),
  );
}

/** Sets a logo of this colour, and resolves to its URL. */
async function setLogo(colour: string): Promise<string> {
  const file = join(folder, `${colour}.svg`);
  const drawing = `<circle cx="12" cy="12" r="12" fill="${colour}"/>`;
  await writeFile(file, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">${drawing}</svg>`);
  const { path } = Object(await stack.bds('logo', 'set', 'logo-of-test', file));
  return `${stack.images[0]?.url}/${path}`;
}

test('a new logo changes the record on every gateway within seconds, and the old URL goes on answering, also after a sweep', async () => {
  const first = await setLogo('crimson');
  await expect.poll(logos, SHOWN).toEqual([first, first]);
  const second = await setLogo('teal');
  expect(second).not.toBe(first);
  await expect.poll(logos, SHOWN).toEqual([second, second]);

  expect(await stack.bds('logo', 'sweep')).toMatchObject({ named: 1, unnamed: 1, removed: 0, missing: [] });
  for (const url of [first, second]) {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toContain('immutable');
  }

  await stack.bds('logo', 'unset', 'logo-of-test');
  await expect.poll(logos, SHOWN).not.toContain(second);
  expect((await fetch(second)).status).toBe(200);
});
