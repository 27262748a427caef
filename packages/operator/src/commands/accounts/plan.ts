import type { Plan, Pool } from '@brand-data/contracts';
import { Command, InvalidArgumentError } from 'commander';
import {
  CONCURRENCY_OPTION,
  type LimitOptions,
  limitsOf,
  limitsText,
  limitsToJson,
  RATE_OPTION,
  readConcurrency,
  readRate,
} from '../../options/limits.ts';
import type { Context } from '../../terminal/context.ts';
import { table } from '../../text/tables.ts';
import { ROUTE_WORDS, routeWord } from '../../usage/routes.ts';

export function planCommand({ accounts, output }: Context): Command {
  const plan = new Command('plan').description(
    'Manage plans: which routes an account may call, and how many calls a month',
  );

  plan
    .command('set')
    .description('Create or replace a plan; the change applies at once to all accounts on this plan')
    .argument('<name>', 'the name of the plan: a lower-case slug')
    .requiredOption(
      '--pool <name=allowance:routes>',
      'allow this many calls a month on these routes (brands, logos), such as calls=10000:brands,logos; repeatable',
      collectPool,
    )
    .option(
      RATE_OPTION,
      "limit each account's calls a second, and how many may come at once (default: no limit)",
      readRate,
    )
    .option(
      CONCURRENCY_OPTION,
      "limit how many of each account's calls are under way at once (default: no limit)",
      readConcurrency,
    )
    .action(async (name: string, { pool, ...options }: { pool: Pool[] } & LimitOptions) => {
      const answer = await accounts().call((client) => client.setPlan, {
        name,
        pools: pool,
        limits: limitsOf(options),
      });
      const plans = answer.plan === undefined ? [] : [answer.plan];
      output.answer({ plan: plans.map(planToJson)[0] }, () => planTable(plans));
    });

  plan
    .command('list')
    .description('List all plans')
    .action(async () => {
      const { plans } = await accounts().call((client) => client.listPlans, {});
      output.answer({ plans: plans.map(planToJson) }, () =>
        plans.length === 0 ? 'There are no plans. Create one with bds plan set.' : planTable(plans),
      );
    });

  return plan;
}

function collectPool(value: string, pools: Pool[] = []): Pool[] {
  const [, name = '', allowance = '', routes = ''] =
    /^([a-z0-9]+(?:[-_][a-z0-9]+)*)=(\d{1,15}):([a-z,]+)$/.exec(value) ?? [];
  const known = routes
    .split(',')
    .map((route) => Object.entries(ROUTE_WORDS).find(([routeWord]) => routeWord === route)?.[1]);
  if (name === '' || known.includes(undefined))
    throw new InvalidArgumentError(
      'Write name=allowance:routes. The routes are brands, logos or brands,logos.',
    );
  return [
    ...pools,
    { name, allowance: Number(allowance), routes: known.filter((route) => route !== undefined) },
  ];
}

function planToJson({ name, pools, limits, revision }: Plan) {
  return {
    name,
    pools: pools.map(({ routes, ...pool }) => ({ ...pool, routes: routes.map(routeWord) })),
    ...limitsToJson(limits),
    revision,
  };
}

function planTable(plans: readonly Plan[]): string {
  const rows = plans.flatMap(({ name, pools, limits }) =>
    pools.map((pool) => [
      name,
      pool.name,
      pool.allowance,
      pool.routes.map(routeWord).join(', '),
      limitsText(limits),
    ]),
  );
  return table(['PLAN', 'POOL', 'CALLS A MONTH', 'ROUTES', 'LIMITS'], rows);
}
