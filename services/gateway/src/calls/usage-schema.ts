import { type Static, Type } from 'typebox';

const description = (text: string, ...examples: unknown[]) => ({ description: text, examples });

/** A calendar month in UTC, such as "2026-11". `isMonth` accepts the same texts. */
export const MONTH_PATTERN = '^\\d{4}-(0[1-9]|1[0-2])$';

/** JSON Schema of the answer of /v1/usage. */
export const usageSchema = Type.Object(
  {
    account: Type.String(description("Id of the token's account.", 'acme')),
    plan: Type.String(description("Name of the account's plan.", 'team')),
    month: Type.String({
      ...description('The calendar month in UTC, YYYY-MM.', '2026-11'),
      pattern: MONTH_PATTERN,
    }),
    final: Type.Boolean(
      description('Whether the month is over and its figures will not change any more.', false),
    ),
    complete: Type.Boolean(
      description(
        'Whether the figures include every call that was answered more than 2 s before this answer. If false, they may be too small: ask again a little later.',
        true,
      ),
    ),
    pools: Type.Array(
      Type.Object(
        {
          pool: Type.String(
            description('Name of the pool of calls. The routes of a plan may share a pool.', 'calls'),
          ),
          allowance: Type.Integer({
            ...description('Calls that the plan allows in the month.', 50_000),
            minimum: 0,
          }),
          used: Type.Integer({ ...description('Calls that are billed so far.', 3), minimum: 0 }),
          remaining: Type.Integer({
            ...description('Calls that can still be made in the month.', 49_997),
            minimum: 0,
          }),
          breakdown: Type.Array(
            Type.Object(
              {
                day: Type.String({
                  ...description('The day in UTC, YYYY-MM-DD.', '2026-11-20'),
                  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
                }),
                key: Type.String(
                  description(
                    'Id of the key, or "unattributed" for billed calls whose key is lost.',
                    'key-1',
                  ),
                ),
                route: Type.Enum(['brands', 'logos', 'unknown'], {
                  ...description(
                    '"brands": /v1/brands/{identifier}; "logos": /api/logos/{identifier}/info; "unknown": the route is lost.',
                    'brands',
                  ),
                  type: 'string',
                }),
                status: Type.Union(
                  [Type.Integer(), Type.Null()],
                  description('HTTP status of the answers: 200, 304 or 404; null if it is lost.', 200),
                ),
                count: Type.Integer({ ...description('Number of billed calls.', 3), minimum: 0 }),
              },
              {
                title: 'UsageCell',
                description: 'The billed calls of one day, key, route and status.',
                additionalProperties: false,
              },
            ),
            { description: 'The billed calls by day, key, route and status.' },
          ),
        },
        {
          title: 'PoolUsage',
          description: 'The usage of one pool of calls.',
          additionalProperties: false,
        },
      ),
      { description: "The pools of the account's plan, by name." },
    ),
  },
  {
    title: 'Usage',
    description: "The account's usage in a month.",
    additionalProperties: false,
  },
);

export type Usage = Static<typeof usageSchema>;

export const EXAMPLE_USAGE: Usage = {
  account: 'acme',
  plan: 'team',
  month: '2026-11',
  final: false,
  complete: true,
  pools: [
    {
      pool: 'calls',
      allowance: 50_000,
      used: 3,
      remaining: 49_997,
      breakdown: [{ day: '2026-11-20', key: 'key-1', route: 'brands', status: 200, count: 3 }],
    },
  ],
};
