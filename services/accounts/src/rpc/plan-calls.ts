import type { AccountsAdminServiceServer } from '@brand-data/contracts';
import { operatorCallOf, type Service, unary } from '@brand-data/runtime';
import { requireLimits } from '../model/call-limits.ts';
import { requireSlug } from '../model/input.ts';
import { planToProto, requirePools } from '../model/plan.ts';
import type { Outbox } from '../storage/outbox.ts';
import type { Store } from '../storage/store.ts';

/** Returns the calls about plans. */
export function planCalls(
  service: Service,
  { store, outbox }: { store: Store; outbox: Outbox },
): Pick<AccountsAdminServiceServer, 'setPlan' | 'listPlans'> {
  return {
    setPlan: unary(service, async ({ name, pools, limits }, metadata) => {
      const by = operatorCallOf(metadata);
      const wanted = { pools: requirePools(pools), limits: requireLimits(limits) };
      const plan = await outbox.confirm(store.plans.set(requireSlug('a plan name', name), wanted, by));
      return { plan: planToProto(plan) };
    }),

    listPlans: unary(service, async () => {
      const plans = await store.plans.list();
      return { plans: plans.map(planToProto) };
    }),
  };
}
