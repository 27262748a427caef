/** Runs campaigns: starts a stack, drives accounts past their limits while parts of it fail, and compares the answers with the bill. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Brand, PoolUsage } from '@brand-data/contracts';
import { createRandom, type Random } from '@brand-data/testing/random';
import { bareMerchant, fullStock } from '../e2e/fixtures.ts';
import { TestOperator } from '../e2e/operator.ts';
import { type ApiClient, createApiClient } from './api-call.ts';
import { brokenBills, callUntilAllIsBilled, readBills } from './bill.ts';
import { add, judge, listed, sumOf } from './ledger.ts';
import { type FaultStack, type FaultStackOptions, startFaultStack } from './stack.ts';
import { type Failure, Traffic, type TrafficAccount, UNLIMITED } from './traffic.ts';

/** How long a run takes and which faults it has. */
export interface CampaignOptions {
  /** The run repeats the faults in other orders until this many minutes have passed. The first round is always complete. */
  minutes: number;
  seed: number;
  /** Only faults whose names contain this. */
  only: string;
  /** How long the run waits at the end for the grants of killed gateways, and for the last calls. */
  settleMinutes: number;
  say: (line: string) => void;
}

/** A stack, and those who use it. */
export interface Stand {
  stack: FaultStack;
  operator: TestOperator;
  client: ApiClient;
  stop(): Promise<void>;
}

export async function startStand(
  options: FaultStackOptions,
  records: Parameters<typeof Brand.fromPartial>[0][] = [fullStock],
): Promise<Stand> {
  const stack = await startFaultStack(options);
  const operator = new TestOperator(stack);
  const client = createApiClient();
  const close = () => {
    client.close();
    operator.close();
  };
  const stop = async () => {
    close();
    await stack.stop();
  };
  if (records.length > 0)
    await operator.putBrands(records).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
  return { stack, operator, client, stop };
}

/** What a campaign has while it runs. */
export interface Parts extends Stand {
  traffic: Traffic;
  random: Random;
  say: (line: string) => void;
}

/** The parts in which campaigns differ. */
export interface Campaign {
  stack: FaultStackOptions;
  /** Further records. */
  records?: Parameters<typeof Brand.fromPartial>[0][];
  /** The calls a second of each of the three accounts that stay far from their limits. */
  unlimitedPerS: number;
  /** See `Traffic`. */
  finishesAfterMs?: number;
  /** How long bills may be late at the end. By default they may not. */
  billedWithinMs?: number;
  /** Causes all faults. Returns what ends with the calls, and what must hold in the end. */
  suffer(parts: Parts): Promise<{
    /** Violations that the faults themselves have shown. */
    broken?: readonly string[];
    /** Returns further violations, when all is billed. */
    check?(billed: ReadonlyMap<TrafficAccount, PoolUsage>): Promise<string[]>;
    /** Says more, before the totals. */
    report?(): void;
  }>;
  /** Whether a failure within the window of a fault is a violation. `suffer` may judge these failures itself. */
  judgesWindows: boolean;
}

/** Runs a campaign. Returns the violations. If there are any, keeps the output of all processes. */
export async function runCampaign(campaign: Campaign, options: CampaignOptions): Promise<string[]> {
  const { say, seed, settleMinutes } = options;
  const records = [fullStock, bareMerchant, ...(campaign.records ?? [])];
  const stand = await startStand(campaign.stack, records);
  const { stack, operator, client } = stand;
  let isGood = false;
  try {
    const random = createRandom(seed);
    const traffic = new Traffic({ stack, operator, client, random }, campaign.finishesAfterMs);
    for (let each = 0; each < 3; each++) await traffic.open(UNLIMITED, campaign.unlimitedPerS);
    const parts = { ...stand, traffic, random, say };
    const { broken = [], check, report } = await campaign.suffer(parts);
    const loadMs = traffic.now();
    await traffic.stop();
    await callUntilAllIsBilled(parts, settleMinutes);
    const billed = await settleBills(parts, campaign.billedWithinMs ?? 0);
    const violations = [
      ...broken,
      ...traffic.failures
        .filter(({ isExcused, window }) => !isExcused && (campaign.judgesWindows || window === undefined))
        .map((failure) => failureLine(traffic, failure)),
      ...brokenBills(traffic.accounts, billed),
      ...traffic.wrong,
      ...((await check?.(billed)) ?? []),
    ];
    report?.();
    say('');
    for (const [name, figures] of totalsOf(traffic, billed, loadMs)) say(`${name.padEnd(16)} ${figures}`);
    say(`violations       ${violations.length}`);
    isGood = violations.length === 0;
    return violations;
  } finally {
    if (isGood) await stand.stop();
    else {
      client.close();
      operator.close();
      await stack.stopButKeepLogs();
      say(`logs of all processes: ${stack.dataDir}/logs`);
    }
  }
}

/** Suffers each fault once, and then all of them again in other orders until the time is over. */
export async function inRounds<T extends { name: string }>(
  { traffic }: Parts,
  { minutes, only }: CampaignOptions,
  faultsOfRound: (round: number) => readonly T[],
  suffer: (fault: T, slot: number) => Promise<void>,
): Promise<void> {
  const isOver = () => traffic.now() >= minutes * 60_000;
  for (let round = 0; round === 0 || !isOver(); round++) {
    const faults = faultsOfRound(round).filter(({ name }) => name.includes(only));
    if (faults.length === 0) throw new Error(`--only: no fault's name contains "${only}"`);
    for (const [slot, fault] of faults.entries()) {
      if (round > 0 && isOver()) return;
      await suffer(fault, slot);
    }
  }
}

/**
 * Returns how long it takes until `holds` resolves to true. undefined: it did not within this time. A rejection counts as false.
 */
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

/** Restarts gateways so that they return their permits, and waits for the messages of lost replicas to be delivered again. */
async function settleBills({ stack, operator, traffic }: Parts, withinMs: number) {
  for (const { name } of stack.gateways) await stack.restart(name);
  const billed = new Map<TrafficAccount, PoolUsage>();
  let unsettled = traffic.accounts;
  await msUntil(async () => {
    for (const [account, pool] of await readBills(operator, unsettled)) billed.set(account, pool);
    unsettled = unsettled.filter(
      (account) => judge(account.ledger, billed.get(account), account.isDriven).length > 0,
    );
    return unsettled.length === 0;
  }, withinMs);
  return billed;
}

function failureLine({ windows }: Traffic, failure: Failure): string {
  const { account, what, gateway, identifier, window, atMs, permits } = failure;
  const before = windows.findLast(({ overMs }) => overMs > 0 && overMs <= atMs);
  const sinceLast = before
    ? `${seconds(atMs - before.overMs)} after the window of ${before.fault.name}`
    : 'before the first window';
  const where = window ? `in the window of ${window.fault.name}` : sinceLast;
  return `at ${seconds(atMs)}, ${where}: a call of account ${account.name} to ${gateway} for "${identifier}" ended with ${what} (${permits})`;
}

function totalsOf(
  { accounts, windows, failures, wrong, longestMs }: Traffic,
  billed: ReadonlyMap<TrafficAccount, PoolUsage>,
  loadMs: number,
): [string, string | number][] {
  const merged = (countsOf: (ledger: TrafficAccount['ledger']) => ReadonlyMap<string, number>) => {
    const all = new Map<string, number>();
    for (const { ledger } of accounts) for (const [name, count] of countsOf(ledger)) add(all, name, count);
    return all;
  };
  const total = (figureOf: (account: TrafficAccount) => number) =>
    accounts.reduce((sum, account) => sum + figureOf(account), 0);
  const usedOf = (account: TrafficAccount) => billed.get(account)?.used ?? 0;
  const calls = total(({ ledger }) => ledger.calls);
  const counted = total(({ ledger }) => ledger.counted);
  const driven = accounts.filter(({ isDriven }) => isDriven);
  const full = driven.filter((account) => usedOf(account) === account.ledger.allowance);
  const unsettled = accounts.filter((account) => (billed.get(account)?.out ?? 0) > 0);
  const outside = failures.filter(({ window }) => window === undefined);
  const excused = outside.filter(({ isExcused }) => isExcused);
  return [
    ['windows', `${windows.length} in ${seconds(loadMs)}`],
    ['accounts', `${accounts.length}, of which ${driven.length} were driven past their limits`],
    ['calls', `${calls}, ${(calls / (loadMs / 1_000)).toFixed(0)} a second`],
    ['answers', listed(merged(({ outcomes }) => outcomes))],
    ['longest call', `${longestMs.toFixed(0)} ms, without faulty gateways`],
    ['counted answers', counted],
    ['billed calls', total(usedOf)],
    ['difference', `${total(usedOf) - counted} calls`],
    ['may be billed', `failures: ${listed(merged(({ unsure }) => unsure)) || 'none'}`],
    ['not billed', total((account) => Math.max(0, account.ledger.counted - usedOf(account)))],
    ['wrong answers', wrong.length],
    ['over allowance', total((account) => Math.max(0, usedOf(account) - account.ledger.allowance))],
    ['used up', `${full.length} of ${driven.length} driven accounts to the last call`],
    [
      'not yet settled',
      `${total((account) => billed.get(account)?.out ?? 0)} permits of ${unsettled.length} accounts, in the grants of killed gateways`,
    ],
    [
      'failed calls',
      `${windows.reduce((sum, window) => sum + sumOf(window.failures), 0)} in windows, ${failures.length - outside.length} of them not allowed`,
    ],
    [
      '',
      `${outside.length} outside windows, ${excused.length} of them needed permits that a killed gateway may have held`,
    ],
  ];
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
