import { Route } from '@brand-data/contracts';

export const ROUTE_WORDS = { brands: Route.BRANDS, logos: Route.LOGOS } as const;

/** "unknown" for a route that this bds does not know, and for the route of a billed call whose answer is no longer stored. */
export function routeWord(route: Route): string {
  return Object.entries(ROUTE_WORDS).find(([, value]) => value === route)?.[0] ?? 'unknown';
}
