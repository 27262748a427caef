import { encodeProblem } from '@brand-data/runtime/http';
import { Type } from 'typebox';
import { PROBLEMS, type ProblemCode } from '../answers/problem.ts';
import { headerObjects, QUOTA_HEADERS } from './headers.ts';
import type { ResponseObject } from './types.ts';

/** The URL of the page of errors in examples. The document has that of the installation in its place. */
export const EXAMPLE_DOCS_URL = 'https://api.example.com/docs/errors';
const EXAMPLE_REQUEST_ID = '0b7cf5b4-5f5a-4a62-a3d5-1d6a3a3a6f0e';

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

/** JSON Schema of every error's body. */
export const problemSchema = Type.Object(
  {
    type: Type.String({
      description: 'URL of the entry for `code` on the page of errors.',
      format: 'uri-reference',
      examples: [`${EXAMPLE_DOCS_URL}#identifier_not_found`],
    }),
    title: Type.String({
      description: 'What went wrong, in general. The same for every error of the code.',
      examples: [PROBLEMS.identifier_not_found.title],
    }),
    status: Type.Integer({
      description: "The answer's HTTP status.",
      minimum: 400,
      maximum: 599,
      examples: [404],
    }),
    detail: Type.String({
      description: 'What went wrong with this request, and what the caller can do. The text may change.',
      examples: [
        'No company is known by "mcdonlads". It was tried as a ticker and as a name. Give a ticker, a domain or a company name.',
      ],
    }),
    // Any text is allowed, so that a client generated from this document can read the codes of later versions.
    code: Type.Union(
      [
        Type.Enum(CODES, {
          title: 'ProblemCode',
          description: 'The codes of this version.',
          type: 'string',
        }),
        Type.String(),
      ],
      {
        description:
          'Name of the error, for programs. It never changes. Later versions may add codes: treat a code that you do not know by its status.',
        examples: ['identifier_not_found'],
      },
    ),
    request_id: Type.String({
      description: 'Id of the request, as in the header X-Request-Id. Give it if you report the error.',
      format: 'uuid',
      examples: [EXAMPLE_REQUEST_ID],
    }),
    suggestions: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String({ description: 'Display name of the record.', examples: ["McDonald's"] }),
            identifier: Type.String({
              description: 'An identifier that finds this record on the same route.',
              examples: ['MCD'],
            }),
          },
          {
            title: 'Suggestion',
            description: 'A record that the caller may have meant.',
            additionalProperties: false,
          },
        ),
        {
          description: 'Only for identifier_not_found: records that may be meant, the likeliest first.',
          maxItems: 3,
        },
      ),
    ),
  },
  {
    title: 'Problem',
    description: 'An error (RFC 9457).',
    additionalProperties: false,
  },
);

interface ProblemExample {
  detail: string;
  suggestions?: { name: string; identifier: string }[];
}

/** The texts of a true answer with each code. */
const EXAMPLES: Record<ProblemCode, ProblemExample> = {
  identifier_invalid: { detail: 'The identifier holds a control character.' },
  month_invalid: { detail: 'Give one month as YYYY-MM, this one or one of the 24 before it.' },
  request_invalid: { detail: 'The request has the header Host more than once.' },
  token_missing: {
    detail:
      'Give your publishable token in the query parameter `token`, as in ?token=pk_…; tokens in headers and bodies are not read.',
  },
  token_invalid: { detail: 'The token is not known. Check that it was copied whole.' },
  plan_required: {
    detail: 'The plan "free" does not include the Brand API. Change to a plan that does.',
  },
  origin_not_allowed: {
    detail: 'The key has a list of allowed origins, and the origin of this request is not on it.',
  },
  route_not_found: {
    detail:
      'The routes are /v1/brands/{identifier}, /api/logos/{identifier}/info and /v1/usage. /openapi.json describes them.',
  },
  identifier_not_found: {
    detail:
      'No company is known by "mcdonlads". It was tried as a ticker and as a name. Give a ticker, a domain or a company name.',
    suggestions: [{ name: "McDonald's", identifier: 'MCD' }],
  },
  method_not_allowed: { detail: 'Use one of GET, HEAD, OPTIONS.' },
  quota_exceeded: {
    detail:
      'The account has used its 50000 calls of this month. The next month begins at 00:00 UTC on its first day.',
  },
  rate_limited: {
    detail: 'The key makes more calls a second than it may. Try again after the time in Retry-After.',
  },
  internal: { detail: 'The service failed. Try again, and report the request id if it stays.' },
  overloaded: { detail: 'The service has more to do than it can. Try again in a second.' },
  upstream_unavailable: {
    detail: 'A part of the service did not answer in time. Try again in a second.',
  },
};

/** Returns the body of a true answer with this code. */
export function exampleOf(code: ProblemCode, docsUrl: string = EXAMPLE_DOCS_URL): object {
  const context = { docsUrl, requestId: EXAMPLE_REQUEST_ID };
  const { detail, ...more } = EXAMPLES[code];
  return JSON.parse(encodeProblem({ code, detail, headers: {}, more }, PROBLEMS, context).body.toString());
}

/** Codes of calls that the gateway refuses or fails after it knows the call's pool. */
const OF_POOL: readonly ProblemCode[] = [
  'identifier_invalid',
  'origin_not_allowed',
  'identifier_not_found',
  'quota_exceeded',
  'rate_limited',
  'internal',
  'overloaded',
  'upstream_unavailable',
];

/**
 * Returns the answers that report the errors with these codes, as Response Objects by status.
 *
 * @param isCounted whether calls of the route take a permit from a pool
 */
export function problemResponses(
  codes: readonly ProblemCode[],
  { isCounted = false }: { isCounted?: boolean } = {},
): Record<string, ResponseObject> {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [status, problemResponse(status, ofStatus, isCounted)]),
  );
}

/** The answers to input that the gateway cannot read as a request of any route, as Response Objects by status. */
export const UNREADABLE_RESPONSES = Object.fromEntries(
  [400, 408, 431].map((status) => [status, problemResponse(status, ['request_invalid'], false)]),
);

function problemResponse(status: number, codes: readonly ProblemCode[], isCounted: boolean): ResponseObject {
  const hasRetryAfter = status === 429 || status === 503;
  return {
    description: codes
      .map((code) => `\`${code}\`: ${PROBLEMS[code].title}. ${PROBLEMS[code].help}`)
      .join('\n\n'),
    headers: headerObjects(
      status === 404 ? 'MissCacheControl' : 'NoStore',
      ...(status === 405 ? (['Allow'] as const) : []),
      ...(hasRetryAfter ? (['Retry-After'] as const) : []),
      ...(isCounted && codes.some((code) => OF_POOL.includes(code)) ? QUOTA_HEADERS : []),
    ),
    content: {
      'application/problem+json': {
        schema: problemSchema,
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            { summary: PROBLEMS[code].title, value: { ...exampleOf(code), status } },
          ]),
        ),
      },
    },
  };
}
