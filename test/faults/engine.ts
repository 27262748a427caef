/**
 * Runs campaigns: starts a stack, drives accounts past their limits while the rows of a table take parts of it away, and compares
 * the answers with the bill.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { PoolUsage } from '@brand-data/contracts';
import { createRandom, type Random } from '@brand-data/testing/random';
import { bareMerchant, fullStock } from '../e2e/fixtures.ts';
import type { TestOperator } from '../e2e/operator.ts';
import { boundAfter, type FaultRow, inject } from './fault.ts';
import { add, judge, listed, sumOf } from './ledger.ts';
import { type FaultStackOptions, type Harness, startHarness } from './stack.ts';
import { type Failure, Traffic, type TrafficAccount, UNLIMITED, type Window } from './traffic.ts';

const QUIET_MS = 2_500;
/** All faults of a row begin within this time. */
const SAME_SECOND_MS = 800;
const NEXT_AFTER_MS = 900;
const BROKEN_ON_LINE = 5;

/** How long a run takes and which rows it has. */
export interface CampaignOptions {
  /** The run repeats the rows in other orders until this many minutes have passed. The first round is always complete. */
  minutes: number;
  seed: number;
  /** Only rows whose names contain this. */
  only: string;
  /** How long the run waits at the end for the grants of killed gateways, and for the last calls. */
  settleMinutes: number;
  say: (line: string) => void;
}

/** What a campaign has while it runs. */
export interface Parts extends Harness {
  traffic: Traffic;
  random: Random;
  say: (line: string) => void;
}

/** Looks at more than the calls of the traffic during a row. */
export interface Watch {
  /** Before anything is lost. */
  begin?(): Promise<unknown>;
  /** While the parts are away. They stay away until this resolves. */
  meanwhile?(): Promise<unknown>;
  /** When the parts are back. The window stays open until this resolves. */
  back?(): Promise<unknown>;
  /** When the window is over. Returns figures in milliseconds by name. */
  judge?(window: Window): Record<string, number>;
}

/** What runs during all rows. */
interface Background {
  /** When the rows are over. */
  stop?(): Promise<void>;
  /** When all is billed. Returns violations. */
  check?(billed: Bills): Promise<string[]>;
}

/** Metering's bill of each account. */
export type Bills = ReadonlyMap<TrafficAccount, PoolUsage | undefined>;

/** The parts in which campaigns differ. */
export interface Campaign<R extends FaultRow = FaultRow> {
  stack: FaultStackOptions;
  /** Further records. */
  records?: Parameters<TestOperator['putBrands']>[0];
  /** The calls a second of each of the three accounts that stay far from their limits. 0: there are no calls. */
  unlimitedPerS: number;
  /** How long callers call before the first row. */
  leadInMs: number;
  /** See `Traffic`. */
  finishesAfterMs?: number;
  /** How long bills may be late at the end. By default they may not. */
  billedWithinMs?: number;
  /** The rows of a round in their order. */
  rows(parts: Parts, round: number): readonly R[];
  /** Starts what a row needs to be watched. Watches add to `broken` what is broken, until they have judged. */
  watch?(parts: Parts, row: R, broken: string[]): Promise<Watch[]>;
  /** Begins what runs during all rows. */
  begin?(parts: Parts): Promise<Background | undefined>;
}

/** How one row went. */
type Result = Awaited<ReturnType<typeof runRow>> & { broken: string[] };

/** Runs all rows of a campaign. Returns the violations. If there are any, keeps the output of all processes. */
export async function runCampaign<R extends FaultRow>(
  campaign: Campaign<R>,
  options: CampaignOptions,
): Promise<string[]> {
  const { minutes, only } = options;
  const started = await startCampaign(campaign, options);
  const { parts } = started;
  await orKeepLogs(parts, async () => {
    const isOver = () => parts.traffic.now() >= minutes * 60_000;
    for (let round = 0; round === 0 || !isOver(); round++) {
      const rows = campaign.rows(parts, round).filter(({ name }) => name.includes(only));
      if (rows.length === 0) throw new Error(`--only: no row's name contains "${only}"`);
      for (const row of rows) if (round === 0 || !isOver()) await started.run(row);
    }
  });
  return started.end();
}

/** Does the work. If it fails, stops the stack and keeps the output of all processes. */
async function orKeepLogs<T>({ stop, stack, say }: Parts, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await stop('but keep logs');
    say(`logs of all processes: ${stack.dataDir}/logs`);
    throw error;
  }
}

/** Starts a campaign, whose rows can then be run one after another. */
export async function startCampaign<R extends FaultRow>(campaign: Campaign<R>, options: CampaignOptions) {
  const { say, seed, settleMinutes } = options;
  const harness = await startHarness(campaign.stack, [fullStock, bareMerchant, ...(campaign.records ?? [])]);
  const random = createRandom(seed);
  const traffic = new Traffic(harness, random, campaign.finishesAfterMs);
  const parts: Parts = { ...harness, traffic, random, say };
  const results: Result[] = [];
  const background = await orKeepLogs(parts, async () => {
    for (let each = 0; each < 3 && campaign.unlimitedPerS > 0; each++)
      await traffic.open(UNLIMITED, campaign.unlimitedPerS);
    const begun = await campaign.begin?.(parts);
    await delay(campaign.leadInMs);
    return begun;
  });
  return {
    parts,
    async run(row: R): Promise<Result> {
      const broken: string[] = [];
      const watches = (await campaign.watch?.(parts, row, broken)) ?? [];
      const result = { ...(await runRow(parts, row, watches)), broken };
      results.push(result);
      say(rowLine(results.length, result));
      return result;
    },
    /** Ends the calls and the stack. Returns the violations. */
    async end(): Promise<string[]> {
      return orKeepLogs(parts, async () => {
        await background?.stop?.();
        const loadMs = traffic.now();
        await traffic.stop();
        await callUntilAllIsBilled(parts, settleMinutes);
        const billed = await settleBills(parts, campaign.billedWithinMs ?? 0);
        const violations = [
          ...results.flatMap(({ row, broken }) => broken.map((line) => `${row.name}: ${line}`)),
          ...traffic.failures
            .filter(({ isExcused }) => !isExcused)
            .map((failure) => failureLine(traffic, failure)),
          ...traffic.accounts.flatMap((account) =>
            brokenBill(account, billed.get(account)).map(
              (line) => `account ${account.name} (${account.accountId}): ${line}`,
            ),
          ),
          ...traffic.wrong,
          ...((await background?.check?.(billed)) ?? []),
        ];
        sayTable(results, say);
        for (const [name, figures] of totalsOf(traffic, billed, loadMs)) say(`${name.padEnd(18)} ${figures}`);
        say(`violations         ${violations.length}`);
        if (violations.length > 0) say(`logs of all processes: ${harness.stack.dataDir}/logs`);
        await harness.stop(violations.length > 0 ? 'but keep logs' : undefined);
        return violations;
      });
    },
  };
}

/** Injects the faults of one row, and repairs them. */
async function runRow(parts: Parts, row: FaultRow, watches: readonly Watch[]) {
  const { stack, traffic, random } = parts;
  const open = async (allowances: readonly number[] = []) => {
    const accounts: TrafficAccount[] = [];
    for (const allowance of allowances) accounts.push(await traffic.prepare(allowance));
    return accounts;
  };
  const [before, later] = [await open(row.before), await open(row.meanwhile)];
  for (const account of before) traffic.begin(account);
  if (row.before) await delay(QUIET_MS);
  const window = traffic.beginWindow(row);
  const all = (when: 'begin' | 'meanwhile' | 'back') => Promise.all(watches.map((watch) => watch[when]?.()));
  await all('begin');
  const beginning = beginOneByOne(traffic, later);
  const repairs: (() => unknown)[] = [];
  try {
    const faults = row.faults.map(async (fault) => {
      if (row.faults.length > 1) await delay(random.between(0, SAME_SECOND_MS));
      repairs.push(await inject(stack, fault));
    });
    await Promise.all(faults);
    await all('meanwhile');
    await beginning;
    await delay(Math.max(0, row.awayMs - (traffic.now() - window.beganMs)));
  } finally {
    window.backMs = traffic.now();
    await Promise.all(repairs.map((each) => each()));
  }
  await all('back');
  window.endedMs = traffic.now();
  await delay(Math.max(...row.faults.map(boundAfter)));
  traffic.endWindow(window);
  const figures: Record<string, number> = {};
  for (const watch of watches) Object.assign(figures, watch.judge?.(window));
  return {
    row,
    window,
    figures,
    /** How many calls have failed that had to be answered. The violations name them. */
    unallowed: traffic.failures.filter((failure) => failure.window === window).length,
  };
}

/** Begins the accounts one after another, so that some begin at any stage of the fault. */
async function beginOneByOne(traffic: Traffic, accounts: readonly TrafficAccount[]): Promise<void> {
  for (const account of accounts) {
    traffic.begin(account);
    await delay(NEXT_AFTER_MS);
  }
}

/** Returns how long it takes until `holds` resolves to true. undefined: it did not within this time. A rejection counts as false. */
export async function msUntil(holds: () => Promise<boolean>, withinMs: number): Promise<number | undefined> {
  const beganMs = performance.now();
  for (;;) {
    const isSo = await holds().catch(() => false);
    const tookMs = performance.now() - beganMs;
    if (isSo) return tookMs;
    if (tookMs > withinMs) return undefined;
    await delay(100);
  }
}

/** Reads each account's usage from metering. */
async function readBills({ operator }: Parts, accounts: readonly TrafficAccount[]) {
  const billed = new Map<TrafficAccount, PoolUsage | undefined>();
  for (const account of accounts) billed.set(account, (await operator.usage(account.accountId))[0]);
  return billed;
}

const brokenBill = ({ ledger, isDriven }: TrafficAccount, pool: PoolUsage | undefined) =>
  judge(ledger, pool, isDriven);

/**
 * Makes calls until all allowances of driven accounts are billed, or the time to settle is over. Permits that killed gateways
 * held become available when metering has settled their grants.
 */
async function callUntilAllIsBilled(parts: Parts, settleMinutes: number): Promise<void> {
  const { traffic, say } = parts;
  const settleByMs = traffic.now() + settleMinutes * 60_000;
  let unfinished = traffic.accounts.filter(({ isDriven }) => isDriven);
  for (;;) {
    const billed = await readBills(parts, unfinished);
    const leftOf = (account: TrafficAccount) => account.ledger.allowance - (billed.get(account)?.used ?? 0);
    unfinished = unfinished.filter((account) => leftOf(account) > 0);
    if (unfinished.length === 0 || traffic.now() > settleByMs) return;
    const left = unfinished.map((account) => `${leftOf(account)} of account ${account.name}`);
    say(`allowed calls that are not billed yet: ${left.join(', ')}`);
    for (let times = 0; times < 10; times++) {
      const calls = unfinished.flatMap((account) => Array(leftOf(account) > 20 ? 8 : 1).fill(account));
      await Promise.all(calls.map((account) => traffic.call(account)));
      await delay(200);
    }
  }
}

/** Restarts gateways so that they return their permits, and waits for the messages of lost replicas to be delivered again. */
async function settleBills(parts: Parts, withinMs: number) {
  for (const { name } of parts.stack.gateways) await parts.stack.restart(name);
  const billed = new Map<TrafficAccount, PoolUsage | undefined>();
  let unsettled: readonly TrafficAccount[] = parts.traffic.accounts;
  await msUntil(async () => {
    for (const [account, pool] of await readBills(parts, unsettled)) billed.set(account, pool);
    unsettled = unsettled.filter((account) => brokenBill(account, billed.get(account)).length > 0);
    return unsettled.length === 0;
  }, withinMs);
  return billed;
}

function failureLine({ windows }: Traffic, failure: Failure): string {
  const { account, what, gateway, identifier, window, atMs, permits } = failure;
  const before = windows.findLast(({ overMs }) => overMs > 0 && overMs <= atMs);
  const sinceLast = before
    ? `${seconds(atMs - before.overMs)} after the window of ${before.row.name}`
    : 'before the first window';
  const where = window
    ? `${seconds(atMs - window.beganMs)} into the window of ${window.row.name}`
    : sinceLast;
  return `at ${seconds(atMs)}, ${where}: a call of account ${account.name} to ${gateway} for "${identifier}" ended with ${what} (${permits})`;
}

function rowLine(number: number, { row, window, figures, broken, unallowed }: Result): string {
  const { beganMs, endedMs, overMs, calls, failures } = window;
  const said = [
    `${calls.length} calls, ${failures.size === 0 ? 'no failures' : `failures: ${listed(failures)}`}`,
    unallowed > 0 && `${unallowed} of them not allowed`,
    ...Object.entries(figures).map(([name, ms]) => `${name} ${seconds(ms)}`),
    broken.length > 0 && `VIOLATED: ${broken.slice(0, BROKEN_ON_LINE).join('; ')}`,
    broken.length === 0 && unallowed === 0 && 'all bounds kept',
  ];
  const times = `${seconds(beganMs)} to ${seconds(endedMs)} (${seconds(overMs)})`;
  return `${String(number).padStart(3)}  ${row.name.padEnd(52)} ${times.padEnd(28)} ${said.filter(Boolean).join('; ')}`;
}

/** Sums the rows of each kind up. Figures are the least, the median and the most. */
function sayTable(results: readonly Result[], say: (line: string) => void): void {
  say('');
  for (const [kind, own] of Map.groupBy(results, ({ row }) => row.kind ?? row.name)) {
    const failures = new Map<string, number>();
    for (const { window } of own) for (const [what, times] of window.failures) add(failures, what, times);
    const figures = Object.keys(own[0]?.figures ?? {}).map((name) => {
      const sorted = own.map((each) => each.figures[name] ?? 0).sort((a, b) => a - b);
      const at = (share: number) =>
        ((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) / 1_000).toFixed(1);
      return `${name} ${at(0)}/${at(0.5)}/${at(1)} s`;
    });
    const calls = sumOf(own.map(({ window }) => window.calls.length));
    const said = [
      `${own.length} rows`,
      `${calls} calls`,
      ...figures,
      `failures: ${listed(failures) || 'none'}`,
    ];
    say(`${kind.padEnd(52)} ${said.join(', ')}`);
  }
  say('');
}

function totalsOf(
  { accounts, windows, failures, wrong, longestMs }: Traffic,
  billed: Bills,
  loadMs: number,
): [string, string | number][] {
  const merged = (which: 'outcomes' | 'unsure') => {
    const all = new Map<string, number>();
    for (const { ledger } of accounts) for (const [name, count] of ledger[which]) add(all, name, count);
    return listed(all);
  };
  const total = (figureOf: (account: TrafficAccount) => number) => sumOf(accounts.map(figureOf));
  const usedOf = (account: TrafficAccount) => billed.get(account)?.used ?? 0;
  const calls = total(({ ledger }) => ledger.calls);
  const counted = total(({ ledger }) => ledger.counted);
  const driven = accounts.filter(({ isDriven }) => isDriven);
  const full = driven.filter((account) => usedOf(account) === account.ledger.allowance);
  const unsettled = total((account) => billed.get(account)?.out ?? 0);
  const inWindows = sumOf(windows.map((window) => sumOf(window.failures)));
  const outside = failures.filter(({ window }) => window === undefined);
  const excused = outside.filter(({ isExcused }) => isExcused);
  return [
    ['windows', `${windows.length} in ${seconds(loadMs)}`],
    ['accounts', `${accounts.length}, of which ${driven.length} were driven past their limits`],
    ['calls', `${calls}, ${(calls / (loadMs / 1_000)).toFixed(0)} a second`],
    ['answers', merged('outcomes')],
    ['longest call', `${longestMs.toFixed(0)} ms, without faulty gateways`],
    ['counted answers', counted],
    ['billed calls', total(usedOf)],
    ['difference', `${total(usedOf) - counted} calls`],
    ['may be billed', `failures: ${merged('unsure') || 'none'}`],
    ['not billed', total((account) => Math.max(0, account.ledger.counted - usedOf(account)))],
    ['wrong answers', wrong.length],
    ['over allowance', total((account) => Math.max(0, usedOf(account) - account.ledger.allowance))],
    ['used up', `${full.length} of ${driven.length} driven accounts to the last call`],
    ['not yet settled', `${unsettled} permits, in the grants of killed gateways`],
    ['failed in windows', `${inWindows}, ${failures.length - outside.length} of them not allowed`],
    ['failed outside', `${outside.length}, ${excused.length} of them for want of a killed gateway's permits`],
  ];
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
