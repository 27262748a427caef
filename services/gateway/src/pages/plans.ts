import {
  type AccountsServiceClient,
  type CallLimits,
  type Plan,
  type Pool,
  Route,
} from '@brand-data/contracts';
import { callUnary, type Service } from '@brand-data/runtime';
import { type Html, html } from '@brand-data/runtime/html';
import { list } from '@brand-data/site';
import { followList, LIST_WITHIN_MS } from '../upstream/follow-list.ts';

/** Follows the plans that everybody may see. `read` reads them again. */
export async function followPlans(
  service: Pick<Service, 'log' | 'onStop'>,
  accounts: AccountsServiceClient,
): Promise<{ plans: () => readonly Plan[]; read: () => Promise<void> }> {
  let plans: readonly Plan[] = [];
  const read = await followList(service, 'the public plans', async () => {
    ({ plans } = await callUnary(accounts, accounts.listPublicPlans, {}, { deadlineMs: LIST_WITHIN_MS }));
  });
  return { plans: () => plans, read };
}

/** Returns the plans with their figures, or a sentence if there are none to show. */
export function planList(plans: readonly Plan[]): Html {
  if (plans.length === 0) return html`<p>The operator tells the plans and their figures on request.</p>\n`;
  const items = plans.map(({ name, pools, limits }) => {
    const allowances = pools.length > 0 ? pools.map(poolText) : ['no counted calls'];
    const facts = [...allowances, ...limitTexts(limits)];
    return html`<strong>${name}</strong>: ${facts.join('; ')}`;
  });
  return html`${list(items)}\n`;
}

const number = new Intl.NumberFormat('en');

function poolText({ allowance, routes }: Pool): string {
  const names = routes.map((route) => ROUTE_NAMES[route]).join(' and ');
  return `${number.format(allowance)} calls a month for ${names || 'no route'}`;
}

const ROUTE_NAMES: Record<Route, string> = {
  [Route.UNSPECIFIED]: 'an unknown route',
  [Route.BRANDS]: 'brands',
  [Route.LOGOS]: 'logos',
};

function limitTexts({ rate, concurrency }: CallLimits = {}): string[] {
  return [
    ...(rate
      ? [`${number.format(rate.perSecond)} calls a second, ${number.format(rate.burst)} at once`]
      : []),
    ...(concurrency === undefined ? [] : [`${number.format(concurrency)} calls under way`]),
  ];
}
