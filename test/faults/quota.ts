import { setTimeout as delay } from 'node:timers/promises';
import type { PoolUsage } from '@brand-data/contracts';
import { bareMerchant, fullStock } from '../e2e/fixtures.ts';
import { type Operator, operatorOf } from '../e2e/operator.ts';
import { type ApiClient, createApiClient } from './api-call.ts';
import { brokenBills, callUntilAllIsBilled, readBills } from './bill.ts';
import type { Campaign } from './campaign.ts';
import { cutOff, type Fault, frozen, isServer, killed, killedUnbilled, restarted } from './fault.ts';
import { add, listed, sumOf } from './ledger.ts';
import { randomFrom, shuffled } from './random.ts';
import { type FaultStack, startFaultStack } from './stack.ts';
import { type Account, type Failure, startTraffic, type Traffic, UNLIMITED, type Window } from './traffic.ts';

export interface QuotaOptions extends Campaign {
  /** Uses three mongods and three nats-servers instead of one of each. */
  clusters: boolean;
}

const LEAD_IN_MS = 18_000;
const QUIET_MS = 2_500;
/** For each fault of a round, the allowances of the new accounts whose calls begin before the fault. */
const NEW_ACCOUNTS: number[][] = [
  [1, 5],
  [5],
  [1, 5],
  [5],
  [40, 3_000],
  [40, 3_000],
  [300],
  [40],
  [1, 5],
  [300],
  [40],
  [5],
  [300],
  [40],
  [1],
  [40],
  [300],
  [40],
  [1, 5],
  [40],
  [1],
  [40],
  [],
  [],
];

/**
 * Drives accounts past their limits during faults, and compares the answers that callers saw with the bill. Returns the
 * violations.
 */
export async function runQuota(options: QuotaOptions): Promise<string[]> {
  const { say, clusters } = options;
  const stack = await startFaultStack({
    gateways: 3,
    meterings: 2,
    clusters,
    say,
    canBeCutOff: { 'gateway-3': ['NATS'], 'metering-2': ['NATS', 'MongoDB', 'gateways'] },
  });
  const operator = operatorOf(stack);
  const client = createApiClient();
  let isGood = false;
  try {
    await operator.putBrands([fullStock, bareMerchant]);
    const random = randomFrom(options.seed);
    const traffic = startTraffic({ stack, operator, client, random });
    const parts = { stack, operator, client, traffic, say };
    await sufferAll(parts, options, random);
    const loadMs = traffic.now();
    await traffic.stop();
    await callUntilAllIsBilled(parts, options.settleMinutes);
    // On a restart, gateways return the permits that they hold.
    for (const { name } of stack.gateways) await stack.restart(name);
    const billed = await readBills(operator, traffic.accounts);
    const violations = [
      ...(await differences(parts, billed)),
      ...brokenBills(traffic.accounts, billed),
      ...traffic.failures
        .filter(({ isExcused }) => !isExcused)
        .map((failure) => failureLine(traffic, failure)),
    ];
    sayLedger(parts, billed, loadMs);
    say(`violations       ${violations.length}`);
    isGood = violations.length === 0;
    return violations;
  } finally {
    client.close();
    operator.close();
    if (isGood) await stack.stop();
    else {
      await stack.stopButKeepLogs();
      say(`logs of all processes: ${stack.dataDir}/logs`);
    }
  }
}

interface Parts {
  stack: FaultStack;
  operator: Operator;
  client: ApiClient;
  traffic: Traffic;
  say: (line: string) => void;
}

async function sufferAll(
  { stack, traffic, say }: Parts,
  { minutes, only }: Campaign,
  random: () => number,
): Promise<void> {
  for (let each = 0; each < 3; each++) await traffic.open(UNLIMITED, 18);
  // This account is near its limit when the first gateway is killed.
  await traffic.open(300, 15);
  await delay(LEAD_IN_MS);
  for (let round = 0; round === 0 || traffic.now() < minutes * 60_000; round++) {
    const faults = faultsOfRound(stack, random, round).filter(({ name }) => name.includes(only));
    if (faults.length === 0) throw new Error(`--only: no fault's name contains "${only}"`);
    for (const [slot, fault] of faults.entries()) {
      if (round > 0 && traffic.now() >= minutes * 60_000) return;
      for (const allowance of NEW_ACCOUNTS[slot] ?? []) await traffic.open(allowance, rateOf(allowance));
      await delay(QUIET_MS);
      const window = await traffic.suffer(fault, forMsOf(fault, random));
      say(windowLine(traffic.windows.length, window, traffic.failures));
    }
  }
}

/** The faults of a round. The first round begins with the kills of gateways, so that their grants are settled by its end. */
function faultsOfRound(stack: FaultStack, random: () => number, round: number): Fault[] {
  const gateways = stack.gateways.map(({ name }) => name);
  const others = stack.names.filter((name) => !gateways.includes(name));
  const first = shuffled([...gateways.map(killed), killedUnbilled('gateway-3')], random);
  const rest = [
    ...others.map(killed),
    ...stack.names.map(frozen),
    ...others.filter(isServer).map(restarted),
    cutOff('gateway-3', 'NATS'),
    cutOff('metering-2'),
  ];
  return round === 0 ? [...first, ...shuffled(rest, random)] : shuffled([...first, ...rest], random);
}

function rateOf(allowance: number): number {
  if (allowance >= 3_000) return 25;
  return allowance >= 300 ? 12 : 6;
}

function forMsOf({ name }: Fault, random: () => number): number {
  if (name.startsWith('SIGSTOP')) return 3_000 + random() * 5_000;
  return name.startsWith('cut') ? 8_000 : 500 + random() * 1_500;
}

/** Checks that /v1/usage and `bds usage` show the same as metering's admin port. */
async function differences(
  { stack, client, traffic }: Parts,
  billed: ReadonlyMap<Account, PoolUsage>,
): Promise<string[]> {
  interface Usage {
    pools: { used: number; breakdown: { count: number }[] }[];
  }
  const figuresOf = ({ pools }: Usage) => {
    const [{ used, breakdown } = { used: 0, breakdown: [] }] = pools;
    return { used, inBreakdown: breakdown.reduce((sum, { count }) => sum + count, 0) };
  };
  const lines: string[] = [];
  for (const [index, account] of traffic.accounts.entries()) {
    const gateway = stack.gateways[index % stack.gateways.length];
    const outcome = await client.get(`${gateway?.url}/v1/usage?token=${account.token}`);
    const told: Usage = outcome.kind === 'answered' ? JSON.parse(outcome.body.toString()) : { pools: [] };
    const bds = (await stack.bds('usage', account.accountId)) as Usage;
    const wanted = billed.get(account)?.used ?? 0;
    for (const [who, usage] of [['/v1/usage', told] as const, ['bds usage', bds] as const]) {
      const { used, inBreakdown } = figuresOf(usage);
      if (used !== wanted || inBreakdown !== wanted)
        lines.push(
          `account ${account.name}: ${who} shows ${used} calls and a breakdown of ${inBreakdown}, but ${wanted} are billed`,
        );
    }
  }
  return lines;
}

function sayLedger({ traffic, say }: Parts, billed: ReadonlyMap<Account, PoolUsage>, loadMs: number): void {
  const { accounts, windows, failures } = traffic;
  const ledgers = accounts.map(({ ledger }) => ledger);
  const merged = (countsOf: (ledger: Account['ledger']) => ReadonlyMap<string, number>) => {
    const all = new Map<string, number>();
    for (const ledger of ledgers) for (const [name, count] of countsOf(ledger)) add(all, name, count);
    return all;
  };
  const total = (figureOf: (account: Account) => number) =>
    accounts.reduce((sum, account) => sum + figureOf(account), 0);
  const usedOf = (account: Account) => billed.get(account)?.used ?? 0;
  const calls = total(({ ledger }) => ledger.calls);
  const counted = total(({ ledger }) => ledger.counted);
  const used = total(usedOf);
  const driven = accounts.filter(({ isDriven }) => isDriven);
  const full = driven.filter((account) => usedOf(account) === account.ledger.allowance);
  const unsettled = accounts.filter((account) => (billed.get(account)?.out ?? 0) > 0);
  const outside = failures.filter(({ window }) => window === undefined);
  const excused = outside.filter(({ isExcused }) => isExcused);
  const lines = [
    ['windows', `${windows.length} in ${seconds(loadMs)}`],
    ['accounts', `${accounts.length}, of which ${driven.length} were driven past their limits`],
    ['calls', `${calls}, ${(calls / (loadMs / 1_000)).toFixed(0)} a second`],
    ['answers', listed(merged(({ outcomes }) => outcomes))],
    ['longest call', `${traffic.longestMs().toFixed(0)} ms, without faulty gateways`],
    ['counted answers', counted],
    ['billed calls', used],
    [
      'difference',
      `${used - counted} calls; failures that may be billed: ${listed(merged(({ unsure }) => unsure)) || 'none'}`,
    ],
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
  say('');
  for (const [name, figures] of lines) say(`${String(name).padEnd(16)} ${figures}`);
}

function windowLine(number: number, window: Window, failures: readonly Failure[]): string {
  const { fault, beganMs, endedMs, overMs, calls } = window;
  const times = `${seconds(beganMs)} to ${seconds(endedMs)} (${seconds(overMs)})`;
  const failed = window.failures.size === 0 ? 'no failures' : `failures: ${listed(window.failures)}`;
  const unallowed = failures.filter((failure) => failure.window === window).length;
  const more = unallowed === 0 ? '' : `; ${unallowed} of them not allowed`;
  return `${String(number).padStart(3)}  ${fault.name.padEnd(36)} ${times.padEnd(28)} ${calls} calls, ${failed}${more}`;
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

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
