import { flatRecordSchema, groupedRecordSchema } from '@brand-data/presenters';
import type { FastifySchema } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { LONGEST_IDENTIFIER } from './brand-request.ts';
import { PROBLEMS, type ProblemCode } from './problem.ts';

/** Schemas of the routes' parameters and answers, which describe the API. services/gateway/README.md is the full description. */

const query = {
  token: Type.String({ description: 'The publishable token of a key, which begins with pk_.' }),
};

const params = Type.Object({
  identifier: Type.String({
    description:
      'A ticker, a domain, a name or another identifier, percent-encoded. Write a slash in the identifier as %2F.',
    minLength: 1,
    maxLength: LONGEST_IDENTIFIER,
  }),
});

const problem = Type.Object(
  {
    type: Type.String({ description: 'URL of the entry for `code` on the page of errors.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What the caller can do.' }),
    code: Type.String({ description: 'Error code for programs. The page of errors lists all codes.' }),
    request_id: Type.String({ description: 'Id of the request, as in the header X-Request-Id.' }),
    suggestions: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String(),
          identifier: Type.String({ description: 'An identifier that finds this record.' }),
        }),
        {
          description: 'Only for identifier_not_found: records that may be meant, the likeliest first.',
          maxItems: 3,
        },
      ),
    ),
  },
  { description: 'A problem document (RFC 9457).' },
);

const usage = Type.Object({
  account: Type.String(),
  plan: Type.String(),
  month: Type.String({ description: 'The calendar month, UTC: YYYY-MM.' }),
  final: Type.Boolean({ description: 'Whether the month is over and its figures will not change any more.' }),
  complete: Type.Boolean({
    description: 'Whether the figures include every call that was answered before this one.',
  }),
  pools: Type.Array(
    Type.Object({
      pool: Type.String(),
      allowance: Type.Integer({ description: 'Calls that the plan allows in the month.' }),
      used: Type.Integer({ description: 'Calls that are billed so far.' }),
      remaining: Type.Integer({ description: 'Calls that are left in the month.' }),
      breakdown: Type.Array(
        Type.Object({
          day: Type.String({ description: 'The day, UTC: YYYY-MM-DD.' }),
          key: Type.String(),
          route: Type.String(),
          status: Type.Union([Type.Integer(), Type.Null()]),
          count: Type.Integer({ description: 'Billed calls.' }),
        }),
      ),
    }),
  ),
});

const json = (description: string, type: string, schema: TSchema) => ({
  description,
  content: { [type]: { schema } },
});

/** Describes the error answers with these codes, by status. */
function problems(...codes: ProblemCode[]): Record<string, unknown> {
  const statuses = new Set(codes.map((code) => PROBLEMS[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const ofStatus = codes.filter((code) => PROBLEMS[code].status === status);
      return [status, json(ofStatus.join(', '), 'application/problem+json', problem)];
    }),
  );
}

const brandSchema = (summary: string, record: TSchema): FastifySchema & { summary: string } => ({
  summary,
  params,
  querystring: Type.Object(query),
  response: {
    200: json('The record.', 'application/json', record),
    304: { description: 'The caller already has the current record.', type: 'null' },
    ...problems(
      ...(['identifier_invalid', 'token_missing', 'token_invalid', 'plan_required'] as const),
      ...(['origin_not_allowed', 'identifier_not_found', 'quota_exceeded'] as const),
      ...(['internal', 'upstream_unavailable'] as const),
    ),
  },
});

export const brandsSchema = brandSchema('The grouped record of a company', groupedRecordSchema);
export const logosSchema = brandSchema('The flat record of a company', flatRecordSchema);

export const usageSchema: FastifySchema & { summary: string } = {
  summary: "The account's usage in a month",
  querystring: Type.Object({
    ...query,
    month: Type.Optional(
      Type.String({
        description: 'The current month or one of the 24 before it: YYYY-MM. If omitted, the current month.',
        pattern: '^\\d{4}-\\d{2}$',
      }),
    ),
  }),
  response: {
    200: json('The usage of the month.', 'application/json', usage),
    ...problems(
      ...(['month_invalid', 'token_missing', 'token_invalid', 'origin_not_allowed'] as const),
      ...(['internal', 'upstream_unavailable'] as const),
    ),
  },
};

export const docsSchema: FastifySchema & { summary: string } = {
  summary: 'The page of errors',
  response: { 200: json('The page of errors.', 'text/html', Type.String()) },
};
