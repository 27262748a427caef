import type { Plan } from '@brand-data/contracts';
import type { Connection } from '../connection/connection.ts';

/** Returns all plans, by name. */
export async function plansByName({ accounts }: Pick<Connection, 'accounts'>): Promise<Map<string, Plan>> {
  const { plans } = await accounts().call((client) => client.listPlans, {});
  return new Map(plans.map((plan) => [plan.name, plan]));
}
