/** The headers of answers, as Header Objects of the OpenAPI document. services/gateway/README.md explains them. */

import { ALLOWED_METHODS } from '@brand-data/runtime/http';
import { EXPOSED_HEADERS } from '../answers/cors.ts';
import { KIND, STRENGTH } from '../records/brand-match.ts';
import type { Header } from './types.ts';

const text = (description: string, example: string, schema: object = {}): Header => ({
  description,
  schema: { type: 'string', ...schema },
  example,
});
const constant = (description: string, value: string): Header => text(description, value, { enum: [value] });
const required = (header: Header): Header => ({ ...header, required: true });

const namesOf = (names: Record<number, string>) => Object.values(names).join('|');

/** By the name under which `components.headers` has it. */
export const HEADERS = {
  'Access-Control-Allow-Origin': required(constant('Pages of any origin may read the answer.', '*')),
  'Access-Control-Expose-Headers': required(
    constant('The headers that pages of other origins may read.', EXPOSED_HEADERS),
  ),
  'X-Content-Type-Options': required(constant('Browsers take the body for nothing but its type.', 'nosniff')),
  'X-Request-Id': required(
    text(
      "Id of the request. The problem's body and the operator's log have it too.",
      '0b7cf5b4-5f5a-4a62-a3d5-1d6a3a3a6f0e',
      { format: 'uuid' },
    ),
  ),
  'X-Quota-Charged': text('1: this call counts against the quota. 0: it does not.', '1', {
    enum: ['0', '1'],
  }),
  'RateLimit-Policy': text(
    'The limits, as in draft-ietf-httpapi-ratelimit-headers. "month": q is the plan\'s allowance of calls, w the seconds of this month. "second": q is the calls a second. Absent while the server does not know the figures.',
    '"month";q=50000;w=2592000',
    { pattern: '^"(month|second)";q=\\d+(\\.\\d+)?;w=\\d+(, "second";q=\\d+(\\.\\d+)?;w=1)?$' },
  ),
  RateLimit: text(
    'What is left of each limit: r is the calls that are left, as far as this server knows, and t the seconds until the limit begins anew.',
    '"month";r=49958;t=907200',
    { pattern: '^"(month|second)";r=\\d+;t=\\d+(, "second";r=\\d+;t=1)?$' },
  ),
  RecordCacheControl: required(
    text(
      'The record may be kept for an hour: by the caller alone if the key has a list of origins, else by every cache.',
      'public, max-age=3600',
      { enum: ['public, max-age=3600', 'private, max-age=3600'] },
    ),
  ),
  MissCacheControl: required(
    text('That nothing is known by the identifier may be kept for a minute.', 'public, max-age=60', {
      enum: ['public, max-age=60', 'private, max-age=60'],
    }),
  ),
  DocumentCacheControl: required(
    constant('Every cache may keep the answer for an hour.', 'public, max-age=3600'),
  ),
  PageCacheControl: required(
    constant('Every cache may keep the answer for five minutes.', 'public, max-age=300'),
  ),
  NoStore: required(constant('No cache may keep the answer.', 'no-store')),
  ETag: required(
    text(
      'Strong tag of the body in its encoding, the same from every server. Send it in If-None-Match the next time.',
      '"eMo0RCcTYJuziwQ2UnQyhhI0iA-"',
      { pattern: '^"[\\w-]{27}(-br|-gzip)?"$' },
    ),
  ),
  RecordVary: required(
    text('The request headers on which the answer depends.', 'Accept-Encoding', {
      enum: ['Accept-Encoding', 'Accept-Encoding, Origin'],
    }),
  ),
  PageVary: required(constant('The request header on which the answer depends.', 'Accept-Encoding')),
  'Content-Encoding': text('How the body is compressed. Absent if it is not.', 'br', {
    enum: ['br', 'gzip'],
  }),
  'Content-Security-Policy': text('What the page may load.', "default-src 'none'; style-src 'self'"),
  'Referrer-Policy': required(
    constant('Browsers tell no other site the address of the page.', 'no-referrer'),
  ),
  'Brand-Match': required(
    text(
      "The record's identifier that matched, and how: a dictionary of RFC 9651. `kind` is the kind of the identifier, `value` the identifier, and `strength` says whether it is equal (`exact`) or which weaker step matched.",
      'kind=ticker, value="AAPL", strength=exact',
      {
        pattern: `^kind=(${namesOf(KIND)}), value=%?"[ -~]*", strength=(${namesOf(STRENGTH)})$`,
      },
    ),
  ),
  'Retry-After': required({
    description: 'Seconds to wait before the next call.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  }),
  Allow: required(constant('The methods of the route.', ALLOWED_METHODS)),
} as const satisfies Record<string, Header>;

/** A header's name in answers, if `components.headers` has another. */
const SENT_AS: Partial<Record<keyof typeof HEADERS, string>> = {
  RecordCacheControl: 'Cache-Control',
  MissCacheControl: 'Cache-Control',
  DocumentCacheControl: 'Cache-Control',
  PageCacheControl: 'Cache-Control',
  NoStore: 'Cache-Control',
  RecordVary: 'Vary',
  PageVary: 'Vary',
};

const COMMON = [
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'X-Content-Type-Options',
  'X-Request-Id',
] as const;

/** Returns the `headers` of a response: those that every answer has, and these. */
export function headerObjects(...names: (keyof typeof HEADERS)[]): Record<string, { $ref: string }> {
  return Object.fromEntries(
    [...COMMON, ...names].map((name) => [SENT_AS[name] ?? name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** The headers about the quota. An answer has them if the account is known, the plan has the route, and the figures are known. */
export const QUOTA_HEADERS = ['X-Quota-Charged', 'RateLimit-Policy', 'RateLimit'] as const;
