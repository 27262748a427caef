import { AccountState, type Plan, type Pool, type Rate, Route } from '@brand-data/contracts';
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { UsageError } from '../../connection/failures.ts';
import { readPages } from '../../connection/reading.ts';
import {
  CONCURRENCY_OPTION,
  limitsOf,
  limitsText,
  limitsToJson,
  orNone,
  RATE_OPTION,
  readConcurrency,
  readRate,
  wholeNumber,
} from '../../options/readers.ts';
import { type Context, commandGroup, YES_OPTION } from '../../terminal/context.ts';
import { type Columns, listTable } from '../../text/tables.ts';
import { valueNamed } from '../../text/words.ts';
import { plansByName, routeWord } from '../../usage/allowance-use.ts';
import { changesOf, confirmTerms, type Terms } from '../../usage/plan-terms.ts';

export function planCommand(context: Context) {
  const description = 'Manage plans: which routes an account may call, and how many calls a month';
  return commandGroup(context, 'plan', description, [set, list, remove]);
}

function set(context: Context) {
  const { accounts, output } = context;
  return new Command('set')
    .description(
      'Create a plan, or change what the options name; applies at once to all accounts on this plan',
    )
    .argument('<name>', 'the name of the plan: a lower-case slug')
    .option(
      '--pool <name=allowance:routes>',
      'allow this many calls a month on these routes (brands, logos), such as calls=10000:brands,logos; repeatable; calls=none removes the pool',
      collectPool,
    )
    .option(
      RATE_OPTION,
      "limit each account's calls a second, and how many may come at once; none removes the limit",
      orNone(readRate),
    )
    .option(
      CONCURRENCY_OPTION,
      "limit how many of each account's calls are under way at once; none removes the limit",
      orNone(readConcurrency),
    )
    .option('--public', "show the plan to everybody, on the gateway's page /docs/plans")
    .option('--no-public', 'show the plan to nobody')
    .option(...YES_OPTION)
    .action(async (name, { yes, public: isPublic, ...named }) => {
      if (Object.keys(named).length === 0 && isPublic === undefined)
        throw new UsageError('say what to set: give --pool, --rate, --concurrency or --public');
      const before = (await plansByName(context)).get(name);
      if (before === undefined && named.pool === undefined)
        throw new UsageError(`there is no plan ${JSON.stringify(name)} yet: give --pool to create it`);
      const after = withNamed(before ?? { pools: [], limits: undefined }, named);
      const onPlan = () => accountsOn(context, name);
      if (before) await confirmTerms(context, `The plan ${name}`, { before, after, accounts: onPlan }, yes);
      const request = { name, ...after, replaces: before?.revision ?? 0, public: isPublic };
      const { plan } = await accounts().call((client) => client.setPlan, request);
      if (plan === undefined) return;
      output.answer({ plan: planToJson(plan) }, () => [planTable([plan]), before && changesOf(before, plan)]);
    });
}

interface Named {
  /** By name. Null: the plan shall not have it. */
  pool?: Map<string, Pool | null> | undefined;
  rate?: Rate | 'none' | undefined;
  concurrency?: number | 'none' | undefined;
}

/** Returns the terms with what the options name. */
function withNamed({ pools, limits }: Terms, { pool: named = new Map(), ...options }: Named): Terms {
  const all = new Map([...pools.map((pool): [string, Pool] => [pool.name, pool]), ...named]);
  const { rate = limits?.rate, concurrency = limits?.concurrency } = options;
  return {
    pools: [...all.values()].filter((pool) => pool !== null),
    limits: limitsOf({ rate: unlessNone(rate), concurrency: unlessNone(concurrency) }),
  };
}

function unlessNone<Value>(value: Value | 'none'): Value | undefined {
  return value === 'none' ? undefined : value;
}

async function accountsOn({ accounts }: Context, plan: string): Promise<string[]> {
  const filters = { plan, state: AccountState.ACTIVE, text: '' };
  const { items } = await readPages('accounts', (page) =>
    accounts().call((client) => client.listAccounts, { ...filters, ...page }),
  );
  return items.map(({ id }) => id);
}

function list({ accounts, output }: Context) {
  return new Command('list').description('List all plans').action(async () => {
    const { plans } = await accounts().call((client) => client.listPlans, {});
    output.answer({ plans: plans.map(planToJson) }, () =>
      plans.length === 0 ? 'There are no plans. Create one with bds plan set.' : planTable(plans),
    );
  });
}

function remove({ accounts, output }: Context) {
  return new Command('delete')
    .description('Delete a plan on which no account is')
    .argument('<name>', 'the name of the plan')
    .action(async (name) => {
      const { plan } = await accounts().call((client) => client.deletePlan, { name });
      if (plan)
        output.answer({ deleted: planToJson(plan) }, () => [
          `The plan ${name} is deleted:`,
          planTable([plan]),
        ]);
    });
}

function collectPool(value: string, pools = new Map<string, Pool | null>()): Map<string, Pool | null> {
  const [, name, rest] = /^([a-z0-9]+(?:[-_][a-z0-9]+)*)=(.*)$/.exec(value) ?? [];
  const [, figure = '', routes = ''] = /^([^:]*):([a-z,]+)$/.exec(rest ?? '') ?? [];
  const words = routes.split(',');
  const known = words.flatMap((word) => valueNamed(Route, word) ?? []);
  if (name === undefined || (rest !== 'none' && (figure === '' || known.length < words.length)))
    throw new InvalidArgumentError(
      'Write name=allowance:routes. The routes are brands, logos or brands,logos.',
    );
  if (pools.has(name)) throw new InvalidArgumentError(`Two pools have the name ${name}: rename one.`);
  const allowance = rest === 'none' ? 0 : readAllowance(figure);
  return new Map(pools).set(name, rest === 'none' ? null : { name, allowance, routes: known });
}

const readAllowance = wholeNumber('The allowance is a whole number from 0.', 0, 999_999_999_999_999);

function planToJson({ name, pools, limits, revision, ...plan }: Plan) {
  return {
    name,
    pools: pools.map(({ routes, ...pool }) => ({ ...pool, routes: routes.map(routeWord) })),
    ...limitsToJson(limits),
    public: plan.public,
    revision,
  };
}

function planTable(plans: readonly Plan[]): string {
  const rows = plans.flatMap((plan): { plan: Plan; pool?: Pool }[] =>
    plan.pools.length === 0 ? [{ plan }] : plan.pools.map((pool) => ({ plan, pool })),
  );
  return listTable(COLUMNS, rows);
}

const COLUMNS: Columns<{ plan: Plan; pool?: Pool }> = {
  PLAN: ({ plan }) => plan.name,
  POOL: ({ pool }) => pool?.name ?? '',
  'CALLS A MONTH': ({ pool }) => pool?.allowance ?? 0,
  ROUTES: ({ pool }) => pool?.routes.map(routeWord).join(', ') ?? '',
  LIMITS: ({ plan }) => limitsText(plan.limits),
  PUBLIC: ({ plan }) => (plan.public ? 'yes' : ''),
};
