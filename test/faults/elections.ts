import { setTimeout as delay } from 'node:timers/promises';
import { BrandType, type PoolUsage } from '@brand-data/contracts';
import { bareMerchant, fullStock } from '../e2e/fixtures.ts';
import { type Operator, operatorOf } from '../e2e/operator.ts';
import { startAdminChanges } from './admin-changes.ts';
import { type ApiClient, createApiClient, nameOf } from './api-call.ts';
import { type BillWatch, brokenBills, callUntilAllIsBilled, readBills, watchBill } from './bill.ts';
import type { Campaign } from './campaign.ts';
import {
  boundMsOf,
  GATEWAY,
  lose,
  losesGrants,
  METERING,
  ROWS,
  type Row,
  targetsOf,
} from './election-rows.ts';
import { add, judge, listed, sumOf } from './ledger.ts';
import { callFor } from './outages.ts';
import { randomFrom, shuffled } from './random.ts';
import { type FaultStack, startFaultStack } from './stack.ts';
import { type Account, startTraffic, type Traffic, UNLIMITED, type Window } from './traffic.ts';

const LEAD_IN_MS = 20_000;
const QUIET_MS = 2_500;
const AWAY_MS = 8_000;
/** All losses of a row happen within this time. */
const SAME_SECOND_MS = 800;
const WHOLE_WITHIN_MS = 60_000;
const BILLED_WITHIN_MS = 90_000;
/** Longer than any bound. After this time the run no longer waits for answers. */
const GIVEN_UP_AFTER_MS = 40_000;
const ASK_EVERY_MS = 500;
const UNLIMITED_PER_S = 15;
const FINISHED_AFTER_MS = 3_000;
/**
 * The allowances of each row's new accounts. Calls of some accounts begin before the loss. Calls of the others begin one after
 * another while the loss lasts.
 */
const ALLOWANCES = { before: [40, 300], meanwhile: [1, 5, 40, 5, 1] };
const NEXT_AFTER_MS = 900;

/** Records that operators change. */
const companies = Array.from({ length: 40 }, (_, index) => ({
  id: `company-${index}`,
  type: BrandType.BRAND,
  name: `Company Number ${index}`,
  domains: [`company-${index}.example.com`],
}));

/** How one row went. */
interface RowResult {
  row: Row;
  window: Window;
  /**
   * How long it took until all calls were answered again while the lost part was still away: the longest time of all accounts,
   * new tokens and uncached records.
   */
  recoveredMs: number;
  billLateMs: number;
  broken: string[];
}

interface Parts {
  stack: FaultStack;
  operator: Operator;
  client: ApiClient;
  traffic: Traffic;
  bill: BillWatch;
  /** The token of an account that only the probes use. */
  token: string;
  random: () => number;
  say: (line: string) => void;
}

/**
 * Loses cluster members, gateways, metering replicas and links while accounts are driven past their limits. Compares for each
 * account the answers that callers saw with the bill. Returns the violations.
 */
export async function runElections(options: Campaign): Promise<string[]> {
  const { say, seed } = options;
  const stack = await startFaultStack({
    gateways: 3,
    meterings: 2,
    others: 2,
    clusters: true,
    canBeCutOff: { [GATEWAY]: ['NATS', 'metering'], [METERING]: ['NATS', 'MongoDB', 'gateways'] },
  });
  const operator = operatorOf(stack);
  const client = createApiClient();
  let isGood = false;
  try {
    await operator.putBrands([fullStock, bareMerchant, ...companies]);
    const random = randomFrom(seed);
    const traffic = startTraffic({ stack, operator, client, random, finishesAfterMs: FINISHED_AFTER_MS });
    for (let each = 0; each < 3; each++) await traffic.open(UNLIMITED, UNLIMITED_PER_S);
    const [watched] = traffic.accounts;
    if (!watched) throw new Error('there are no accounts');
    const bill = watchBill(operator, watched, traffic.now);
    const { token } = await operator.newAccount(UNLIMITED);
    const changes = await startAdminChanges({
      stack,
      operator,
      client,
      seed,
      records: companies.map(({ id }) => id),
    });
    const parts = { stack, operator, client, traffic, bill, token, random, say };
    await delay(LEAD_IN_MS);
    const results = await sufferAll(parts, options);
    await changes.stop();
    await bill.stop();
    await traffic.stop();
    await callUntilAllIsBilled(parts, options.settleMinutes);
    const { billed, violations: ofBill } = await settleBills(parts);
    const violations = [
      ...results.flatMap(({ row, broken }) => broken.map((line) => `${row.name}: ${line}`)),
      ...failuresOutside(traffic),
      ...ofBill,
      ...traffic.wrong,
      ...(await changes.differences()),
    ];
    sayTable(results, say);
    sayTotals(traffic, billed, say);
    say(`admin changes    ${changes.summary()}`);
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

async function sufferAll(parts: Parts, { minutes, only }: Campaign): Promise<RowResult[]> {
  const { traffic, random, say } = parts;
  const rows = ROWS.filter(({ name }) => name.includes(only));
  const results: RowResult[] = [];
  for (let round = 0; round === 0 || traffic.now() < minutes * 60_000; round++) {
    for (const row of shuffled(rows, random)) {
      if (round > 0 && traffic.now() >= minutes * 60_000) break;
      const result = await sufferRow(parts, row);
      results.push(result);
      say(rowLine(results.length, result));
    }
  }
  return results;
}

async function sufferRow(parts: Parts, row: Row): Promise<RowResult> {
  const { stack, traffic, bill } = parts;
  const broken: string[] = [];
  const accounts = async (allowances: readonly number[]) => {
    const all: Account[] = [];
    for (const allowance of allowances) all.push(await traffic.prepare(allowance, allowance >= 300 ? 12 : 6));
    return all;
  };
  const before = await accounts(ALLOWANCES.before);
  const meanwhile = await accounts(ALLOWANCES.meanwhile);
  for (const account of before) traffic.begin(account);
  await delay(QUIET_MS);
  bill.takeLatestMs();
  const asks = needsQuestions(row) ? await questions(parts) : [];
  let newMs = new Map<Need, number>();
  const happen = async () => {
    const beganMs = performance.now();
    const beginning = beginOneByOne(traffic, meanwhile);
    const comeBack: (() => Promise<void>)[] = [];
    try {
      const losses = row.losses.map(async (loss) => {
        await delay(parts.random() * SAME_SECOND_MS);
        comeBack.push(await lose(stack, loss));
      });
      await Promise.all(losses);
      newMs = await msUntilAnswered(asks);
      await beginning;
      await delay(Math.max(0, AWAY_MS - (performance.now() - beganMs)));
    } finally {
      await Promise.all(comeBack.map((each) => each()));
    }
    const whole = () => Promise.all([stack.clusters?.mongodb.isWhole(), stack.clusters?.nats.isWhole()]);
    const isWhole = async () => (await whole()).every(Boolean);
    if ((await msUntil(isWhole, WHOLE_WITHIN_MS)) === undefined)
      broken.push(`a member had not rejoined its cluster after ${seconds(WHOLE_WITHIN_MS)}`);
  };
  const window = await traffic.suffer(
    {
      name: row.name,
      targets: targetsOf(row),
      losesGrants: losesGrants(row),
      boundMs: boundMsOf(row),
      happen,
    },
    AWAY_MS,
  );
  const dries = window.dries.filter(({ isExcused }) => !isExcused);
  const dryMs = ({ fromMs, toMs = traffic.now() }: (typeof dries)[number]) => toMs - fromMs;
  const recoveredMs = Math.max(0, ...newMs.values(), ...dries.map(dryMs));
  const billLateMs = bill.takeLatestMs();
  const { answeredWithinMs, billedWithinMs = Number.POSITIVE_INFINITY } = row;
  for (const dry of dries.filter((each) => dryMs(each) > answeredWithinMs))
    broken.push(
      `account ${dry.account.name} (${dry.countedBefore} counted answers before) had no answer for ${seconds(dryMs(dry))}, from ${seconds(dry.fromMs - window.beganMs)} after the loss: ${dry.failed} calls failed, ${dry.endedBy === undefined ? 'no later call was answered' : `the next call ended with ${dry.endedBy}`}`,
    );
  for (const [need, ms] of newMs)
    if (ms > answeredWithinMs) broken.push(`calls of the kind "${need}" had no answer for ${seconds(ms)}`);
  if (billLateMs > billedWithinMs)
    broken.push(`a counted answer was not in the bill after ${seconds(billLateMs)}`);
  for (const { what, gateway, identifier, account, atMs, window: own } of traffic.failures)
    if (own === window && !(row.mayTell503 && what === '503'))
      broken.push(
        `${seconds(atMs - window.beganMs)} after the loss: a call of account ${account.name} to ${gateway} for "${identifier}" ended with ${what}`,
      );
  return { row, window, recoveredMs, billLateMs, broken };
}

/** Begins the accounts one after another, so that some begin at any stage of the loss. */
async function beginOneByOne(traffic: Traffic, accounts: readonly Account[]): Promise<void> {
  for (const account of accounts) {
    traffic.begin(account);
    await delay(NEXT_AFTER_MS);
  }
}

/** Whether new tokens, first calls of accounts and calls for uncached records are asked for meanwhile. */
function needsQuestions({ losses }: Row): boolean {
  return losses.some(
    (loss) =>
      loss.of === 'mongodb' ||
      loss.of === 'nats' ||
      (loss.of === 'process' && /^(accounts|catalog)/.test(loss.name)),
  );
}

/** The status that the first call of each kind gets if nothing is wrong. */
const NEEDS = {
  'a new token': '401',
  'a record that is not cached': '404',
  'an account without a grant': '200',
};
type Need = keyof typeof NEEDS;

/** Resolves to whether the call was answered. */
type Question = readonly [Need, () => Promise<boolean>];

/**
 * Each question makes a new call, so that no cache can answer it. The operator creates the account in advance, because it could
 * not do so during the loss.
 */
async function questions(parts: Parts): Promise<Question[]> {
  const callOfAccount = await callFor(parts, 'an account without a grant');
  return Object.entries(NEEDS).map(([name, wanted]): Question => {
    const need = name as Need;
    const call = async () =>
      need === 'an account without a grant' ? callOfAccount() : (await callFor(parts, need))();
    return [need, async () => nameOf(await call()) === wanted];
  });
}

/** How long each question goes without an answer from now on. */
async function msUntilAnswered(calls: readonly Question[]): Promise<Map<Need, number>> {
  return new Map(
    await Promise.all(calls.map(async ([need, ask]) => [need, await msUntilOneHolds(ask)] as const)),
  );
}

/**
 * How long it takes until `holds` resolves to true. undefined: it did not within this time. A rejection counts as false.
 */
async function msUntil(holds: () => Promise<boolean>, withinMs: number): Promise<number | undefined> {
  const beganMs = performance.now();
  for (;;) {
    const isSo = await holds().catch(() => false);
    const tookMs = performance.now() - beganMs;
    if (isSo) return tookMs;
    if (tookMs > withinMs) return undefined;
    await delay(100);
  }
}

/**
 * How long it takes until one call of `holds` resolves to true. Calls again while earlier calls are open, as those may fail late.
 */
async function msUntilOneHolds(holds: () => Promise<boolean>): Promise<number> {
  const beganMs = performance.now();
  return new Promise((resolve) => {
    const end = (ms: number) => {
      clearInterval(asking);
      clearTimeout(late);
      resolve(ms);
    };
    const ask = async () => {
      if (await holds().catch(() => false)) end(performance.now() - beganMs);
    };
    const asking = setInterval(ask, ASK_EVERY_MS);
    const late = setTimeout(() => end(GIVEN_UP_AFTER_MS), GIVEN_UP_AFTER_MS);
  });
}

/** Restarts gateways so that they return their permits, and waits for the messages of lost replicas to be delivered again. */
async function settleBills({ stack, operator, traffic }: Parts) {
  for (const { name } of stack.gateways) await stack.restart(name);
  const billed = new Map<Account, PoolUsage>();
  let unsettled = traffic.accounts;
  const judged = ({ ledger, isDriven }: Account, pool: PoolUsage | undefined) =>
    judge(ledger, pool, isDriven);
  await msUntil(async () => {
    for (const [account, pool] of await readBills(operator, unsettled)) billed.set(account, pool);
    unsettled = unsettled.filter((account) => judged(account, billed.get(account)).length > 0);
    return unsettled.length === 0;
  }, BILLED_WITHIN_MS);
  return { billed, violations: brokenBills(unsettled, billed) };
}

function failuresOutside({ windows, failures }: Traffic): string[] {
  return failures
    .filter(({ window, isExcused }) => window === undefined && !isExcused)
    .map(({ what, gateway, identifier, account, atMs, permits }) => {
      const last = windows.findLast(({ overMs }) => overMs > 0 && overMs <= atMs);
      const since = last
        ? `${seconds(atMs - last.overMs)} after the row "${last.fault.name}"`
        : 'before the first row';
      return `${since}: a call of account ${account.name} to ${gateway} for "${identifier}" ended with ${what} (${permits})`;
    });
}

function rowLine(number: number, { row, window, recoveredMs, billLateMs, broken }: RowResult): string {
  const failed = window.failures.size === 0 ? 'no failures' : `failures: ${listed(window.failures)}`;
  const verdict = broken.length === 0 ? 'all bounds kept' : `VIOLATED: ${broken.slice(0, 5).join('; ')}`;
  return `${String(number).padStart(3)}  ${row.name.padEnd(52)} ${window.calls} calls, ${failed}; answered again after ${seconds(recoveredMs)} (bound ${seconds(row.answeredWithinMs)}), bill late by ${seconds(billLateMs)}; ${verdict}`;
}

function sayTable(results: readonly RowResult[], say: (line: string) => void): void {
  const header = ['row', 'runs', 'calls', 'answered again s (min/med/max)', 'bill late s, max', 'failures'];
  const lines = ROWS.flatMap((row) => {
    const own = results.filter((result) => result.row === row);
    if (own.length === 0) return [];
    const recovered = own.map(({ recoveredMs }) => recoveredMs).sort((a, b) => a - b);
    const at = (share: number) => recovered[Math.floor((recovered.length - 1) * share)] ?? 0;
    const failures = new Map<string, number>();
    for (const { window } of own) for (const [what, times] of window.failures) add(failures, what, times);
    return [
      [
        row.name,
        own.length,
        own.reduce((sum, { window }) => sum + window.calls, 0),
        [at(0), at(0.5), at(1)].map((ms) => (ms / 1_000).toFixed(1)).join('/'),
        (Math.max(...own.map(({ billLateMs }) => billLateMs)) / 1_000).toFixed(1),
        listed(failures) || 'none',
      ],
    ];
  });
  say('');
  for (const [kind, times, calls, recovered, bill, failed] of [header, ...lines])
    say(
      `${String(kind).padEnd(52)} ${String(times).padStart(5)} ${String(calls).padStart(7)}  ${String(recovered).padEnd(30)} ${String(bill).padEnd(16)} ${failed}`,
    );
}

function sayTotals(
  { accounts, windows, failures, wrong, longestMs, now }: Traffic,
  billed: ReadonlyMap<Account, PoolUsage>,
  say: (line: string) => void,
): void {
  const total = (figureOf: (account: Account) => number) =>
    accounts.reduce((sum, account) => sum + figureOf(account), 0);
  const usedOf = (account: Account) => billed.get(account)?.used ?? 0;
  const driven = accounts.filter(({ isDriven }) => isDriven);
  const outcomes = new Map<string, number>();
  for (const { ledger } of accounts) for (const [name, count] of ledger.outcomes) add(outcomes, name, count);
  const outside = failures.filter(({ window }) => window === undefined);
  const lines = [
    ['rows', `${windows.length} in ${seconds(now())}`],
    ['accounts', `${accounts.length}, of which ${driven.length} were driven past their limits`],
    ['answers', listed(outcomes)],
    ['longest call', `${longestMs().toFixed(0)} ms, without faulty gateways`],
    [
      'failed calls',
      `${windows.reduce((sum, { failures: all }) => sum + sumOf(all), 0)} in rows, ${outside.length} between rows; ${outside.filter(({ isExcused }) => isExcused).length} of the latter needed permits that a lost gateway may have held`,
    ],
    ['counted answers', total(({ ledger }) => ledger.counted)],
    ['billed calls', total(usedOf)],
    ['may be billed', `${total(({ ledger }) => sumOf(ledger.unsure))} calls that failed for their callers`],
    ['not billed', total((account) => Math.max(0, account.ledger.counted - usedOf(account)))],
    ['wrong answers', wrong.length],
    ['over allowance', total((account) => Math.max(0, usedOf(account) - account.ledger.allowance))],
    [
      'used up',
      `${driven.filter((account) => usedOf(account) === account.ledger.allowance).length} of ${driven.length} driven accounts to the last call; ${driven.filter((account) => (billed.get(account)?.out ?? 0) > 0).length} accounts still have permits in the grants of lost gateways`,
    ],
  ];
  say('');
  for (const [name, figures] of lines) say(`${String(name).padEnd(16)} ${figures}`);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
