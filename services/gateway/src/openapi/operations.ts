/** Each route of the public API, as the OpenAPI document describes it. services/gateway/README.md is the full description. */

import { MONTHS_KEPT } from '@brand-data/contracts';
import { flatRecordSchema, groupedRecordSchema } from '@brand-data/presenters';
import { Type } from 'typebox';
import { LONGEST_IDENTIFIER } from '../calls/brand-request.ts';
import { EXAMPLE_USAGE, MONTH_PATTERN, usageSchema } from '../calls/usage-schema.ts';
// Answers of the service with the sample catalogue. test/e2e/docs.test.ts compares them with what the service answers.
import examples from './example-records.json' with { type: 'json' };
import { headerObjects, QUOTA_HEADERS } from './headers.ts';
import { problemResponses, UNREADABLE_RESPONSES } from './problems.ts';
import type { Media, Operation, Schema } from './types.ts';

/** JSON Schema of a decoded identifier. `identifierFromSegment` accepts the same texts. */
export const identifierSchema = Type.String({
  minLength: 1,
  maxLength: LONGEST_IDENTIFIER,
  // No control characters, which are those of the category Cc.
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
});

export const monthSchema = Type.String({ pattern: MONTH_PATTERN });

const identifier = {
  name: 'identifier',
  in: 'path',
  required: true,
  description:
    'A ticker (AAPL, BRK.B, MDO.DE, XETR:APC), a domain, a name, an ISIN, a CUSIP, a FIGI or an LEI. One percent-encoded segment: write a slash in the identifier as %2F.',
  schema: identifierSchema,
  examples: {
    ticker: { summary: 'The ticker of a listed company', value: 'AAPL' },
    listing: { summary: 'A ticker with its exchange', value: 'MDO.DE' },
    domain: { summary: 'A domain', value: 'figma.com' },
    name: { summary: 'A name', value: "McDonald's" },
  },
};

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description:
    'The ETag of the body that the caller has. If it is still current, the answer is 304 without a body.',
  schema: { type: 'string' },
  example: '"eMo0RCcTYJuziwQ2UnQyhhI0iA-"',
};

const month = {
  name: 'month',
  in: 'query',
  required: false,
  description: `The current month (UTC) or one of the ${MONTHS_KEPT - 1} before it, as YYYY-MM. If omitted, the current month.`,
  schema: monthSchema,
  example: '2026-11',
};

const body = (type: string, schema: Schema, examples: Omit<Media, 'schema'>) => ({
  content: { [type]: { schema, ...examples } },
});

/** Codes of each route, whatever it answers. */
const OF_EVERY_ROUTE = ['method_not_allowed', 'internal'] as const;

const RECORD_PROBLEMS = problemResponses(
  [
    'identifier_invalid',
    'request_invalid',
    'token_missing',
    'token_invalid',
    'plan_required',
    'origin_not_allowed',
    'identifier_not_found',
    'quota_exceeded',
    'rate_limited',
    'upstream_unavailable',
    'overloaded',
    ...OF_EVERY_ROUTE,
  ],
  { isCounted: true },
);
const USAGE_PROBLEMS = problemResponses([
  'month_invalid',
  'request_invalid',
  'token_missing',
  'token_invalid',
  'origin_not_allowed',
  'rate_limited',
  'upstream_unavailable',
  ...OF_EVERY_ROUTE,
]);
const PAGE_PROBLEMS = problemResponses(OF_EVERY_ROUTE);

function recordOperation(
  own: Pick<Operation, 'operationId' | 'summary' | 'description'>,
  record: Schema,
  examples: Required<Media>['examples'],
): Operation {
  const headers = headerObjects('RecordCacheControl', 'ETag', 'RecordVary', 'Brand-Match', ...QUOTA_HEADERS);
  return {
    ...own,
    tags: ['Records'],
    parameters: [identifier, ifNoneMatch],
    responses: {
      200: {
        description: 'The record. Counted.',
        headers: { ...headers, ...headerObjects('Content-Encoding') },
        ...body('application/json', record, { examples }),
      },
      304: { description: 'The caller has the current record. No body. Counted.', headers },
      ...UNREADABLE_RESPONSES,
      ...RECORD_PROBLEMS,
    },
  };
}

type HeaderNames = Parameters<typeof headerObjects>;

/** The answers of a file that stays the same while the gateway runs. */
const fileResponses = (name: string, content: object, headers: HeaderNames): Operation['responses'] => ({
  200: {
    description: `The ${name}.`,
    headers: headerObjects(...headers, 'ETag', 'PageVary', 'Content-Encoding'),
    ...content,
  },
  304: {
    description: `The caller has the current ${name}. No body.`,
    headers: headerObjects(...headers, 'ETag', 'PageVary'),
  },
  ...UNREADABLE_RESPONSES,
  ...PAGE_PROBLEMS,
});

/** By path. Every route of the gateway is here, and no other. */
export const OPERATIONS = {
  '/v1/brands/{identifier}': recordOperation(
    {
      operationId: 'getBrand',
      summary: 'The grouped record of a company or a superinvestor',
      description:
        'Finds the one company or superinvestor that the identifier means, and answers its record with the fields in groups. Fields without data are left out. A call of the Brand API: an answer 200, 304 or 404 counts against the quota.',
    },
    groupedRecordSchema,
    examples.grouped,
  ),
  '/api/logos/{identifier}/info': recordOperation(
    {
      operationId: 'getLogo',
      summary: 'The flat record of a company, with its logo',
      description:
        'Finds the one company that the identifier means, and answers a flat record that always has the same keys. Fields without data are null. Superinvestors have no flat record. A logo request: an answer 200, 304 or 404 counts against the quota.',
    },
    flatRecordSchema,
    examples.flat,
  ),
  '/v1/usage': {
    operationId: 'getUsage',
    summary: "The account's usage in a month",
    description:
      'How many calls the account has used in a month, by day, key, route and status. The figures are at most 2 s old. Never counted.',
    tags: ['Account'],
    parameters: [month],
    responses: {
      200: {
        description: 'The usage of the month. Not counted.',
        headers: headerObjects('NoStore'),
        ...body('application/json', usageSchema, { example: EXAMPLE_USAGE }),
      },
      ...UNREADABLE_RESPONSES,
      ...USAGE_PROBLEMS,
    },
  },
  '/openapi.json': {
    operationId: 'getDescription',
    summary: 'This document',
    description:
      'The description of the API that this server gives (OpenAPI 3.1). Needs no token. Never counted.',
    tags: ['Documents'],
    security: [],
    parameters: [ifNoneMatch],
    responses: fileResponses(
      'document',
      body('application/json', { type: 'object' }, { example: { openapi: '3.1.1' } }),
      ['DocumentCacheControl'],
    ),
  },
  '/docs/errors': {
    operationId: 'getErrors',
    summary: 'The page of errors',
    description: "Explains each error code. A problem's `type` leads to it. Needs no token. Never counted.",
    tags: ['Documents'],
    security: [],
    parameters: [ifNoneMatch],
    responses: fileResponses('page', body('text/html', { type: 'string' }, { example: '<!doctype html>' }), [
      'PageCacheControl',
      'Referrer-Policy',
      'Content-Security-Policy',
    ]),
  },
} as const satisfies Record<string, Operation>;

export type Path = keyof typeof OPERATIONS;
