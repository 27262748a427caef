import { parseConfig } from '@brand-data/runtime/src/config/config.ts';
import { expect, test } from 'vitest';
import { docsUrlOf, serviceSpec } from '../src/config.ts';

test.each(['0', '-1', '1048575', '2000000.5', ''])(
  'a cache of records of %j bytes, which might have no bound, is refused at the start with the reason',
  (bytes) => {
    expect(() => parseConfig({ RECORD_CACHE_BYTES: bytes }, serviceSpec)).toThrow(
      /\n {2}RECORD_CACHE_BYTES: must be a whole number of bytes, at least 1048576 \(/,
    );
  },
);

test.each(['help@example.com', 'https://example.com/help?from=api', ''])(
  'the contact may be %j',
  (contact) => {
    expect(parseConfig({ CONTACT: contact }, { CONTACT: serviceSpec.CONTACT })).toEqual({ CONTACT: contact });
  },
);

test.each([
  'help',
  '@example.com',
  'javascript:alert(1)',
  'https://me:hidden@example.com',
  'a b@example.com',
])('the contact %j, which leads nowhere, is refused, and so are such terms', (text) => {
  const spec = { CONTACT: serviceSpec.CONTACT, TERMS_URL: serviceSpec.TERMS_URL };
  const parse = () => parseConfig({ CONTACT: text, TERMS_URL: text }, spec);
  expect(parse).toThrow(/CONTACT: must be an e-mail address.*TERMS_URL: must/s);
  expect(parse).not.toThrow(/hidden/);
});

test.each([
  ['https://example.com/brands/', '', 'https://example.com/brands/docs/errors'],
  ['https://example.com', '', 'https://example.com/docs/errors'],
  ['', '', '/docs/errors'],
  ['https://example.com/brands', 'https://docs.example.com/errors', 'https://docs.example.com/errors'],
])('with PUBLIC_URL %j and DOCS_URL %j, the page of errors is at %s', (publicUrl, docsUrl, expected) => {
  const spec = { PUBLIC_URL: serviceSpec.PUBLIC_URL, DOCS_URL: serviceSpec.DOCS_URL };
  const set = { ...(publicUrl && { PUBLIC_URL: publicUrl }), ...(docsUrl && { DOCS_URL: docsUrl }) };
  expect(docsUrlOf(parseConfig(set, spec))).toBe(expected);
});
