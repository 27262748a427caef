import { type Static, type TProperties, Type } from 'typebox';

const text = (description: string, example: string, pattern?: string) =>
  Type.String({ description, examples: [example], ...(pattern !== undefined && { pattern }) });
const flag = (description: string, example: boolean) => Type.Boolean({ description, examples: [example] });
const count = (description: string, example: number) =>
  Type.Integer({ description, examples: [example], minimum: 0 });
const record = <P extends TProperties>(title: string, description: string, properties: P) =>
  Type.Object(properties, { title, description, additionalProperties: false });

const usageCell = record('UsageCell', 'The billed calls of one day, key, route and status.', {
  day: text('The day in UTC, YYYY-MM-DD.', '2026-11-20', '^\\d{4}-\\d{2}-\\d{2}$'),
  key: text('Id of the key, or "unattributed" for billed calls whose key is lost.', 'key-1'),
  route: Type.Enum(['brands', 'logos', 'unknown'], {
    description:
      '"brands": /v1/brands/{identifier}; "logos": /api/logos/{identifier}/info; "unknown": the route is lost.',
    examples: ['brands'],
    type: 'string',
  }),
  status: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'HTTP status of the answers: 200 (also a 302 to a logo), 304 or 404 (also a 302 to a monogram of the identifier); null if it is lost.',
    examples: [200],
  }),
  count: count('Number of billed calls.', 3),
});

const poolUsage = record('PoolUsage', 'The usage of one pool of calls.', {
  pool: text('Name of the pool of calls. The routes of a plan may share a pool.', 'calls'),
  allowance: count('Calls that the plan allows in the month.', 50_000),
  used: count('Calls that are billed so far.', 3),
  remaining: count('Calls that can still be made in the month.', 49_997),
  breakdown: Type.Array(usageCell, { description: 'The billed calls by day, key, route and status.' }),
});

/** JSON Schema of the answer of /v1/usage. */
export const usageSchema = record('Usage', "The account's usage in a month.", {
  account: text("Id of the token's account.", 'acme'),
  plan: text("Name of the account's plan.", 'team'),
  // `isMonth` accepts the same texts.
  month: text('The calendar month in UTC, YYYY-MM.', '2026-11', '^\\d{4}-(0[1-9]|1[0-2])$'),
  final: flag('Whether the month is over and its figures will not change any more.', false),
  complete: flag(
    'Whether the figures include every call that was answered more than 2 s before this answer. If false, they may be too small: ask again a little later.',
    true,
  ),
  pools: Type.Array(poolUsage, { description: "The pools of the account's plan, by name." }),
});

export type Usage = Static<typeof usageSchema>;
