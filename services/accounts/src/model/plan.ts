import { type CallLimits, type Plan, type Pool, Route, type RouteAllowance } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { requireSlug } from './input.ts';

const MOST_POOLS = 20;

export interface PlanDoc {
  /** The plan's name. */
  _id: string;
  pools: Pool[];
  /** The limits of each account on this plan. Absent: there are none. */
  limits?: CallLimits | undefined;
  /** Whether everybody may see it. Absent: no. */
  public?: boolean | undefined;
  revision: number;
}

/** What an operator says of a plan. */
export type PlanTerms = Pick<PlanDoc, 'pools' | 'limits' | 'public'>;

/** Throws Fault `invalid_argument` unless each route belongs to at most one pool. */
export function requirePools(pools: readonly Pool[]): Pool[] {
  if (pools.length > MOST_POOLS)
    throw new Fault('invalid_argument', `a plan can have at most ${MOST_POOLS} pools`);
  const names = new Set<string>();
  const routes = new Set<Route>();
  for (const pool of pools) {
    requireSlug('a pool name', pool.name);
    if (names.has(pool.name))
      throw new Fault('invalid_argument', `two pools have the name ${pool.name}: rename one`);
    names.add(pool.name);
    if (!Number.isSafeInteger(pool.allowance) || pool.allowance < 0)
      throw new Fault(
        'invalid_argument',
        `the allowance of pool ${pool.name} must be an integer from 0 to 2^53 - 1`,
      );
    for (const route of pool.routes) {
      if (route === Route.UNSPECIFIED)
        throw new Fault('invalid_argument', `pool ${pool.name} names an unknown route`);
      if (routes.has(route))
        throw new Fault(
          'invalid_argument',
          `the route ${ROUTE_TEXT[route]} is in two pools: a route can be in only one pool`,
        );
      routes.add(route);
    }
  }
  return pools.map(({ name, allowance, routes }) => ({ name, allowance, routes }));
}

/** Returns the plan as the trail tells it. */
export function planDetails({ pools, limits, ...plan }: PlanTerms) {
  return {
    pools: poolsText(pools),
    rate: limits?.rate && `${limits.rate.perSecond}:${limits.rate.burst}`,
    concurrency: limits?.concurrency?.toString(),
    public: plan.public ? 'yes' : undefined,
  };
}

/** Returns the pools as people read them: "calls: 50000 for brands and logos". */
function poolsText(pools: readonly Pool[]): string {
  return pools
    .map(({ name, allowance, routes }) => {
      const names = routes.map((route) => ROUTE_TEXT[route]).join(' and ');
      return `${name}: ${allowance} for ${names || 'no route'}`;
    })
    .join('; ');
}

const ROUTE_TEXT: Record<Route, string> = {
  [Route.UNSPECIFIED]: 'an unknown route',
  [Route.BRANDS]: 'brands',
  [Route.LOGOS]: 'logos',
};

export function planToProto({ _id, pools, limits, revision, ...plan }: PlanDoc): Plan {
  return { name: _id, pools, limits, revision, public: plan.public ?? false };
}

/** Returns the revision of an account's limits. It grows when the account gets another plan, and when its plan is changed. */
export function limitRevisionOf(account: { revision: number }, plan: { revision: number }): number {
  return Math.max(plan.revision, account.revision);
}

export function routesOfPlan({ pools }: PlanDoc): RouteAllowance[] {
  return pools.flatMap(({ name, allowance, routes }) =>
    routes.map((route) => ({ route, pool: name, allowance })),
  );
}
