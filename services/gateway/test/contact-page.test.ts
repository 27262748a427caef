import { expect, test } from 'vitest';
import { openApiDocument } from '../src/openapi/document.ts';
import { createPages } from '../src/pages/pages.ts';

const ADDRESSES = { docsUrl: '/docs/errors', logoHost: 'https://logos.example.com' };
const FILES = [
  { path: '/docs/contact', type: 'text/html; charset=utf-8', body: Buffer.from('<!-- fill: contact -->') },
  {
    path: '/docs/contact.md',
    type: 'text/markdown; charset=utf-8',
    body: Buffer.from('<!-- fill: contact -->'),
  },
];

async function contactPage(path: string, given: { contact?: string; termsUrl?: string }): Promise<string> {
  const description = openApiDocument({ ...ADDRESSES, ...given });
  const pages = createPages(FILES, { ...ADDRESSES, publicUrl: '', demoToken: '', description });
  const answer = await pages.byPath.get(path)?.({});
  return String(answer?.body);
}

test('the page of contact leads to the address and the terms that the operator has given', async () => {
  const given = { contact: 'api@example.com', termsUrl: 'https://example.com/terms' };
  const page = await contactPage('/docs/contact', given);
  expect(page).toContain('<a href="mailto:api@example.com">api@example.com</a>');
  expect(page).toContain('<a href="https://example.com/terms">');
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
