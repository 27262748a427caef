import type { Plan, Route } from '@brand-data/contracts';
import { readPages } from '../connection/reading.ts';
import { limitsText } from '../options/readers.ts';
import { type Context, confirm } from '../terminal/context.ts';
import { routeWord } from './allowance-use.ts';

/** What a plan gives to its accounts. */
export type Terms = Pick<Plan, 'pools' | 'limits'>;

/** Returns what differs, in words: "calls: 50000 (brands, logos) → 60000 (brands, logos)". */
export function changesOf(before: Terms, after: Terms): string[] {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [was = 'none', is = 'none'] = [old.get(name), now.get(name)];
    return was === is ? [] : [`${name}: ${was} → ${is}`];
  });
}

function wordsOf({ pools, limits }: Terms): Map<string, string> {
  const { rate, concurrency } = limits ?? {};
  return new Map([
    ...pools.map(({ name, allowance, routes }): [string, string] => {
      return [name, `${allowance} (${routes.map(routeWord).join(', ')})`];
    }),
    ...(rate ? [['rate', limitsText({ rate })] as const] : []),
    ...(concurrency === undefined ? [] : [['concurrency', limitsText({ concurrency })] as const]),
  ]);
}

/** Whether calls that were answered before can be refused, or limits that protected the service are gone, whatever was used. */
function isWorse(before: Terms, after: Terms): boolean {
  const poolOf = (route: Route) => after.pools.find(({ routes }) => routes.includes(route))?.name;
  const [old, now] = [limitValues(before), limitValues(after)];
  return (
    before.pools.some(({ name, routes }) => routes.some((route) => poolOf(route) !== name)) ||
    // Another limit than before is either lower, or, if it is gone, no protection any more.
    old.some((was, place) => was !== now[place] && (now[place] ?? 0) < (was ?? Number.POSITIVE_INFINITY))
  );
}

function limitValues({ limits: { rate, concurrency } = {} }: Terms): (number | undefined)[] {
  return [rate?.perSecond, rate?.burst, concurrency];
}

const ACCOUNTS_IN_PAGE = 100;

/**
 * Returns those accounts that have used as much of a pool in this month as a smaller allowance of `after` allows. `isKnown`: metering
 * knows all usage of the accounts.
 */
async function exhausted(
  { metering }: Context,
  before: Terms,
  after: Terms,
  accounts: () => Promise<string[]>,
) {
  const allowed = new Map(before.pools.map(({ name, allowance }) => [name, allowance]));
  const smaller = after.pools.filter(({ name, allowance }) => allowance < (allowed.get(name) ?? Infinity));
  const ids = smaller.length === 0 ? [] : await accounts();
  const found: string[] = [];
  let isKnown = true;
  for (let at = 0; at < ids.length; at += ACCOUNTS_IN_PAGE) {
    const accountIds = ids.slice(at, at + ACCOUNTS_IN_PAGE);
    const { items } = await readPages('ledgers', async (page) => {
      const answer = await metering().call((client) => client.listUsage, { month: '', accountIds, ...page });
      isKnown &&= answer.complete;
      return answer;
    });
    const used = new Map(items.map(({ accountId, pool, used }) => [`${accountId} ${pool}`, used]));
    const isOver = (id: string) =>
      smaller.some(({ name, allowance }) => (used.get(`${id} ${name}`) ?? 0) >= allowance);
    found.push(...accountIds.filter(isOver));
  }
  return { found, isKnown };
}

/**
 * Shows the difference and lets the operator agree, if accounts lose something that they have or have used.
 *
 * @param accounts returns the ids of the accounts that get these terms
 */
export async function confirmTerms(
  context: Context,
  what: string,
  { before, after, accounts }: { before: Terms; after: Terms; accounts: () => Promise<string[]> },
  yes: boolean | undefined,
): Promise<void> {
  if (yes) return;
  const { found, isKnown } = await exhausted(context, before, after, accounts);
  const [first, ...more] = found;
  if (first === undefined && isKnown && !isWorse(before, after)) return;
  const others = more.length === 0 ? ' has' : ` and ${more.length} more have`;
  const refused = first && `. ${first}${others} used as much already, and calls are refused until next month`;
  const unknown = isKnown ? '' : '. Not all usage is known yet, so calls of more accounts may be refused';
  await confirm(
    context,
    `${what} gets ${changesOf(before, after).join('; ')}${refused ?? ''}${unknown}`,
    yes,
  );
}
