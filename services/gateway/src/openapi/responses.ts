/** What each route answers, as the OpenAPI document describes it. services/gateway/README.md is the full description. */

import { flatRecordSchema, groupedRecordSchema } from '@brand-data/presenters';
import { encodeProblem } from '@brand-data/runtime/http';
import { COMMON_HEADERS } from '../answers/answer.ts';
import { PROBLEMS, type ProblemCode } from '../answers/problem.ts';
import { searchSchema } from '../calls/search-schema.ts';
import { usageSchema } from '../calls/usage-schema.ts';
import description from './description.json' with { type: 'json' };
// Answers of the service with the sample catalogue. test/e2e/docs.system.test.ts compares them with what the service answers.
import examples from './example-records.json' with { type: 'json' };
import type { Media, ResponseObject, Schema } from './types.ts';

/** Every route of the gateway is in the description, and no other. */
export type Path = keyof typeof description.operations;
type HeaderName = keyof typeof description.headers;
type Responses = Record<string, ResponseObject>;

/** The URL of the page of errors in examples. The document has that of the installation in its place. */
export const EXAMPLE_DOCS_URL = 'https://api.example.com/docs/errors';
const EXAMPLE_REQUEST_ID = '0b7cf5b4-5f5a-4a62-a3d5-1d6a3a3a6f0e';

/** The headers about the quota. An answer has them if the account is known, the plan has the route, and the figures are known. */
const QUOTA_HEADERS: readonly HeaderName[] = ['X-Quota-Charged', 'RateLimit-Policy', 'RateLimit'];

/** The answers to input that the gateway cannot read as a request of any route. */
const UNREADABLE: Responses = Object.fromEntries(
  [400, 408, 431].map((status) => [status, problemResponse(status, ['request_invalid'], false)]),
);

const searchHeaders: readonly HeaderName[] = ['SearchCacheControl', 'ETag', 'RecordVary'];
const fileHeaders: readonly HeaderName[] = ['ETag', 'PageVary'];
const pageHeaders: readonly HeaderName[] = ['PageCacheControl', 'Referrer-Policy', 'Content-Security-Policy'];

/** Returns the Response Objects of a route by status. */
export function responsesOf(path: Path): Responses {
  const isCounted = path.includes('{identifier}');
  return { ...UNREADABLE, ...problemResponses(path, isCounted), ...SUCCESSES[path] };
}

const SUCCESSES: Record<Path, Responses> = {
  '/v1/brands/{identifier}': recordResponses(groupedRecordSchema, examples.grouped),
  '/api/logos/{identifier}/info': recordResponses(flatRecordSchema, examples.flat),
  '/api/logos/{identifier}': {
    302: {
      description: 'The way to the image. No body. Counted.',
      headers: headersOf([
        'Location',
        'RecordCacheControl',
        'ImageVary',
        'ImageMatch',
        'Cross-Origin-Resource-Policy',
        ...QUOTA_HEADERS,
      ]),
    },
  },
  '/v1/search': {
    200: {
      description: 'The companies. Not counted.',
      headers: headersOf([...searchHeaders, 'Content-Encoding']),
      ...body('application/json', searchSchema, { examples: examples.search }),
    },
    304: { description: 'The caller has the current answer. No body.', headers: headersOf(searchHeaders) },
  },
  '/v1/usage': {
    200: {
      description: 'The usage of the month. Not counted.',
      headers: headersOf(['NoStore']),
      ...body('application/json', usageSchema, { example: description.usageExample }),
    },
  },
  '/openapi.json': fileResponses(
    'document',
    body('application/json', { type: 'object' }, { example: { openapi: '3.1.1' } }),
    ['DocumentCacheControl', ...fileHeaders],
  ),
  '/docs/errors': fileResponses(
    'page',
    body('text/html', { type: 'string' }, { example: '<!doctype html>' }),
    [...pageHeaders, ...fileHeaders],
  ),
};

function recordResponses(record: Schema, examples: Required<Media>['examples']): Responses {
  const names: HeaderName[] = [
    'RecordCacheControl',
    'ETag',
    'RecordVary',
    'Brand-Match',
    'Brand-Data',
    'Last-Modified',
  ];
  const headers = headersOf([...names, ...QUOTA_HEADERS]);
  return {
    200: {
      description: 'The record. Counted.',
      headers: { ...headers, ...headersOf(['Content-Encoding']) },
      ...body('application/json', record, { examples }),
    },
    304: { description: 'The caller has the current record. No body. Counted.', headers },
  };
}

/** Returns the answers of a file that stays the same while the gateway runs. */
function fileResponses(name: string, content: object, headers: readonly HeaderName[]): Responses {
  return {
    200: { description: `The ${name}.`, headers: headersOf([...headers, 'Content-Encoding']), ...content },
    304: { description: `The caller has the current ${name}. No body.`, headers: headersOf(headers) },
  };
}

function problemResponses(path: Path, isCounted: boolean): Responses {
  const codes = description.operations[path].problems as ProblemCode[];
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [status, problemResponse(status, ofStatus, isCounted)]),
  );
}

/** @param isCounted whether calls of the route take a permit from a pool */
function problemResponse(status: number, codes: readonly ProblemCode[], isCounted: boolean): ResponseObject {
  const isOfPool = codes.some((code) => description.problemsOfPool.includes(code));
  const headers: HeaderName[] = [status === 404 ? 'MissCacheControl' : 'NoStore'];
  if (status === 405) headers.push('Allow');
  if (status === 429 || status === 503) headers.push('Retry-After');
  if (isCounted && isOfPool) headers.push(...QUOTA_HEADERS);
  const examples = codes.map((code) => {
    const { title: summary } = PROBLEMS[code];
    return [code, { summary, value: { ...exampleProblem(code), status } }];
  });
  return {
    description: codes
      .map((code) => `\`${code}\`: ${PROBLEMS[code].title}. ${PROBLEMS[code].help}`)
      .join('\n\n'),
    headers: headersOf(headers),
    ...body('application/problem+json', description.problemSchema, {
      examples: Object.fromEntries(examples),
    }),
  };
}

/** Returns the body of a true answer with this code. */
export function exampleProblem(code: ProblemCode, docsUrl: string = EXAMPLE_DOCS_URL): object {
  const { detail, ...more } = PROBLEMS[code].example;
  const context = { docsUrl, requestId: EXAMPLE_REQUEST_ID };
  return JSON.parse(encodeProblem({ code, detail, headers: {}, more }, PROBLEMS, context).body.toString());
}

/** Returns the `headers` of a response: those that every answer has, and these. */
function headersOf(names: readonly HeaderName[]): Record<string, { $ref: string }> {
  const sentAs: Record<string, string> = description.sentAs;
  return Object.fromEntries(
    [...Object.keys(COMMON_HEADERS), 'X-Request-Id', ...names].map((name) => [
      sentAs[name] ?? name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );
}

function body(type: string, schema: Schema, examples: Omit<Media, 'schema'>) {
  return { content: { [type]: { schema, ...examples } } };
}
