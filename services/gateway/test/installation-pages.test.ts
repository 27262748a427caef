import { type Plan, Route } from '@brand-data/contracts';
import { expect, test } from 'vitest';
import { openApiDocument } from '../src/openapi/document.ts';
import { createPages } from '../src/pages/pages.ts';

const ADDRESSES = { docsUrl: '/docs/errors', logoHost: 'https://logos.example.com' };
const NONE = { ...ADDRESSES, publicUrl: '', demoToken: '', statusUrl: '', plans: () => [] };
const FILES = [
  { path: '/docs/plans', type: 'text/html; charset=utf-8', body: Buffer.from('<!-- fill: plans -->') },
  { path: '/docs/plans.md', type: 'text/markdown; charset=utf-8', body: Buffer.from('<!-- fill: plans -->') },
  { path: '/docs/contact', type: 'text/html; charset=utf-8', body: Buffer.from('<!-- fill: contact -->') },
  {
    path: '/docs/contact.md',
    type: 'text/markdown; charset=utf-8',
    body: Buffer.from('<!-- fill: contact -->'),
  },
];

async function contactPage(
  path: string,
  { statusUrl = '', ...given }: { contact?: string; termsUrl?: string; statusUrl?: string },
): Promise<string> {
  const description = openApiDocument({ ...ADDRESSES, ...given });
  const pages = createPages(FILES, { ...NONE, description, statusUrl });
  const answer = await pages.byPath.get(path)?.({});
  return String(answer?.body);
}

test('the page of contact leads to the address, the terms and the status page that the operator has given', async () => {
  const given = {
    contact: 'api@example.com',
    termsUrl: 'https://example.com/terms',
    statusUrl: 'https://status.example.com',
  };
  const page = await contactPage('/docs/contact', given);
  expect(page).toContain('<a href="mailto:api@example.com">api@example.com</a>');
  expect(page).toContain('<a href="https://example.com/terms">');
  expect(page).toContain('<a href="https://status.example.com">');
  const markdown = await contactPage('/docs/contact.md', given);
  expect(markdown).toContain('[api@example.com](mailto:api@example.com)');
  expect(markdown).toContain('[https://example.com/terms](https://example.com/terms)');
  const byUrl = await contactPage('/docs/contact', { contact: 'https://example.com/help' });
  expect(byUrl).toContain('<a href="https://example.com/help">https://example.com/help</a>');
});

test('without an address, the page of contact says so and leads nowhere', async () => {
  const page = await contactPage('/docs/contact', {});
  expect(page).toContain('No address is given here');
  expect(page).not.toContain('href');
});

test('the page of plans shows the figures of the public plans as they are now, and says so if there are none', async () => {
  let plans: readonly Plan[] = [];
  const pages = createPages(FILES, {
    ...NONE,
    description: openApiDocument(ADDRESSES),
    plans: () => plans,
  });
  const page = async (path: string) => String((await pages.byPath.get(path)?.({}))?.body);
  expect(await page('/docs/plans')).toContain('on request');
  const pool = { name: 'calls', allowance: 50_000, routes: [Route.BRANDS, Route.LOGOS] };
  const limits = { rate: { perSecond: 50, burst: 100 }, concurrency: 20 };
  plans = [{ name: 'team', pools: [pool], limits, revision: 1, public: true }];
  const figures =
    '50,000 calls a month for brands and logos; 50 calls a second, 100 at once; 20 calls under way';
  expect(await page('/docs/plans')).toContain(`<strong>team</strong>: ${figures}`);
  expect(await page('/docs/plans.md')).toContain(`- **team**: ${figures}`);
  plans = [{ name: 'free', pools: [{ ...pool, allowance: 5 }], revision: 2, public: true }];
  expect(await page('/docs/plans')).toContain('<strong>free</strong>: 5 calls a month for brands and logos<');
  expect(await page('/docs/plans')).not.toContain('team');
  plans = [{ name: 'searches', pools: [], revision: 1, public: true }];
  expect(await page('/docs/plans')).toContain('<strong>searches</strong>: no counted calls<');
});
