import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';

let stack: TestStack;
let url: string;

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1 });
  url = stack.gateways[0]?.url ?? '';
});
afterAll(() => stack?.stop());

test('a gateway serves the page of the playground, whose links lead to files that it serves too', async () => {
  const page = await fetch(`${url}/playground`);
  expect(page.status).toBe(200);
  const links = [...(await page.text()).matchAll(/(?:href|src)="([^"#]+)"/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(0);
  // A proxy may serve the gateway under a path prefix, so no link begins with a slash.
  expect(links.filter((link) => link.startsWith('/'))).toEqual([]);
  for (const link of links)
    expect([link, (await fetch(new URL(link, page.url))).status]).toEqual([link, 200]);
});

test('a gateway serves the script of the elements to pages of any origin', async () => {
  const script = await fetch(`${url}/elements.js`, { headers: { origin: 'https://www.example.com' } });
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(script.headers.get('access-control-allow-origin')).toBe('*');
  expect(script.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  expect(await script.text()).toContain('brand-logo');
});

test('the type of an error leads to its entry on the page of errors', async () => {
  const { type } = (await (await fetch(`${url}/v1/brands/AAPL`)).json()) as { type: string };
  expect(type).toBe(`${url}/docs/errors#token_missing`);
  expect(await (await fetch(type)).text()).toContain('id="token_missing"');
});
