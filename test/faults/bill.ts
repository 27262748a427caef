import { setTimeout as delay } from 'node:timers/promises';
import type { PoolUsage } from '@brand-data/contracts';
import type { TestOperator } from '../e2e/operator.ts';
import { judge } from './ledger.ts';
import type { Traffic, TrafficAccount } from './traffic.ts';

const LOOK_EVERY_MS = 250;

/** Reads each account's usage from metering. */
export async function readBills(
  operator: TestOperator,
  accounts: readonly TrafficAccount[],
): Promise<Map<TrafficAccount, PoolUsage>> {
  const billed = new Map<TrafficAccount, PoolUsage>();
  for (const account of accounts) {
    const [pool] = await operator.usage(account.accountId);
    if (pool) billed.set(account, pool);
  }
  return billed;
}

/** Returns what is wrong with the bills, a line for each account and rule of `judge`. */
export function brokenBills(
  accounts: readonly TrafficAccount[],
  billed: ReadonlyMap<TrafficAccount, PoolUsage>,
): string[] {
  return accounts.flatMap((account) =>
    judge(account.ledger, billed.get(account), account.isDriven).map(
      (line) => `account ${account.name} (${account.accountId}): ${line}`,
    ),
  );
}

/**
 * Makes calls until all allowances of driven accounts are billed, or the time to settle is over. Permits that killed gateways
 * held become available when metering has settled their grants.
 */
export async function callUntilAllIsBilled(
  { operator, traffic, say }: { operator: TestOperator; traffic: Traffic; say: (line: string) => void },
  settleMinutes: number,
): Promise<void> {
  const settleByMs = traffic.now() + settleMinutes * 60_000;
  let unfinished = traffic.accounts.filter(({ isDriven }) => isDriven);
  for (;;) {
    const billed = await readBills(operator, unfinished);
    const leftOf = (account: TrafficAccount) => account.ledger.allowance - (billed.get(account)?.used ?? 0);
    unfinished = unfinished.filter((account) => leftOf(account) > 0);
    if (unfinished.length === 0 || traffic.now() > settleByMs) return;
    say(
      `allowed calls that are not billed yet: ${unfinished.map((account) => `${leftOf(account)} of account ${account.name}`).join(', ')}`,
    );
    for (let times = 0; times < 10; times++) {
      const calls = unfinished.flatMap((account) => Array(leftOf(account) > 20 ? 8 : 1).fill(account));
      await Promise.all(calls.map((account) => traffic.call(account)));
      await delay(200);
    }
  }
}

export interface BillWatch {
  /** Returns the longest delay of the bill since the last call of this function. Call it only when the bill is up to date. */
  takeLatestMs(): number;
  stop(): Promise<void>;
}

/** Compares an account's counted answers with its bill, four times a second. */
export function watchBill(
  operator: TestOperator,
  { accountId, ledger }: TrafficAccount,
  now: () => number,
): BillWatch {
  let latestMs = 0;
  let isGoing = true;
  let used = 0;
  /** How many of the billed calls failed for their callers. */
  let unseen = 0;
  const watching = (async () => {
    while (isGoing) {
      const askedMs = now();
      const [pool] = await operator.usage(accountId).catch(() => []);
      // The time of the first counted answer that is not billed yet.
      if (pool) used = pool.used;
      const seenMs = pool && ledger.countedAtMs[used - unseen];
      if (seenMs !== undefined) latestMs = Math.max(latestMs, askedMs - seenMs);
      await delay(LOOK_EVERY_MS);
    }
  })();
  return {
    takeLatestMs: () => {
      const taken = latestMs;
      latestMs = 0;
      unseen = Math.max(0, used - ledger.counted);
      return taken;
    },
    stop: () => {
      isGoing = false;
      return watching;
    },
  };
}
