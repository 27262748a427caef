import type { Plan, Pool } from '@brand-data/contracts';
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import {
  CONCURRENCY_OPTION,
  limitsOf,
  limitsText,
  limitsToJson,
  RATE_OPTION,
  readConcurrency,
  readRate,
} from '../../options/readers.ts';
import { type Context, commandGroup } from '../../terminal/context.ts';
import { type Columns, listTable } from '../../text/tables.ts';
import { ROUTE_WORDS, routeWord } from '../../usage/allowance-use.ts';

export function planCommand(context: Context) {
  const description = 'Manage plans: which routes an account may call, and how many calls a month';
  return commandGroup(context, 'plan', description, [set, list]);
}

function set({ accounts, output }: Context) {
  return new Command('set')
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
    .action(async (name, { pool: pools, ...options }) => {
      const request = { name, pools, limits: limitsOf(options) };
      const { plan } = await accounts().call((client) => client.setPlan, request);
      if (plan) output.answer({ plan: planToJson(plan) }, () => planTable([plan]));
    });
}

function list({ accounts, output }: Context) {
  return new Command('list').description('List all plans').action(async () => {
    const { plans } = await accounts().call((client) => client.listPlans, {});
    output.answer({ plans: plans.map(planToJson) }, () =>
      plans.length === 0 ? 'There are no plans. Create one with bds plan set.' : planTable(plans),
    );
  });
}

const ROUTES = new Map(Object.entries(ROUTE_WORDS));

function collectPool(value: string, pools: Pool[] = []): Pool[] {
  const [, name = '', allowance = '', routes = ''] =
    /^([a-z0-9]+(?:[-_][a-z0-9]+)*)=(\d{1,15}):([a-z,]+)$/.exec(value) ?? [];
  const words = routes.split(',');
  const known = words.flatMap((word) => ROUTES.get(word) ?? []);
  if (name === '' || known.length < words.length)
    throw new InvalidArgumentError(
      'Write name=allowance:routes. The routes are brands, logos or brands,logos.',
    );
  return [...pools, { name, allowance: Number(allowance), routes: known }];
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
  const rows = plans.flatMap((plan) => plan.pools.map((pool) => ({ plan, pool })));
  return listTable(COLUMNS, rows);
}

const COLUMNS: Columns<{ plan: Plan; pool: Pool }> = {
  PLAN: ({ plan }) => plan.name,
  POOL: ({ pool }) => pool.name,
  'CALLS A MONTH': ({ pool }) => pool.allowance,
  ROUTES: ({ pool }) => pool.routes.map(routeWord).join(', '),
  LIMITS: ({ plan }) => limitsText(plan.limits),
};
