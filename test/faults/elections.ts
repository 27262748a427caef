import { setTimeout as delay } from 'node:timers/promises';
import { BrandType } from '@brand-data/contracts';
import { AdminChanges } from './admin-changes.ts';
import { nameOf } from './api-call.ts';
import { type BillWatch, watchBill } from './bill.ts';
import { type ElectionRow, GATEWAY, losesGrants, METERING, ROWS, targetsOf } from './election-rows.ts';
import { type CampaignOptions, inRounds, msUntil, type Parts, runCampaign, seconds } from './engine.ts';
import { boundAfterLosses, lose } from './fault.ts';
import { add, listed } from './ledger.ts';
import { callFor } from './outages.ts';
import { type Traffic, type TrafficAccount, UNLIMITED, type Window } from './traffic.ts';

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
const FINISHED_AFTER_MS = 3_000;
/**
 * The allowances of each row's new accounts. Calls of some accounts begin before the loss. Calls of the other accounts begin one
 * after another while the loss lasts.
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
  row: ElectionRow;
  window: Window;
  /**
   * How long it took until all calls were answered again while the lost part was still away: the longest time of all accounts,
   * new tokens and uncached records.
   */
  recoveredMs: number;
  billLateMs: number;
  broken: string[];
}

interface Elections extends Parts {
  bill: BillWatch;
  /** The token of an account that only the probes use. */
  token: string;
}

/**
 * Loses cluster members, gateways, metering replicas and links while accounts are driven past their limits. Compares for each
 * account the answers that callers saw with the bill. Returns the violations.
 */
export function runElections(options: CampaignOptions): Promise<string[]> {
  return runCampaign(
    {
      stack: {
        gateways: 3,
        meterings: 2,
        others: 2,
        clusters: true,
        canBeCutOff: { [GATEWAY]: ['NATS', 'metering'], [METERING]: ['NATS', 'MongoDB', 'gateways'] },
      },
      records: companies,
      unlimitedPerS: 15,
      finishesAfterMs: FINISHED_AFTER_MS,
      billedWithinMs: BILLED_WITHIN_MS,
      // A row judges the failures in its window.
      judgesWindows: false,
      suffer: (parts) => sufferAll(parts, options),
    },
    options,
  );
}

async function sufferAll(parts: Parts, options: CampaignOptions) {
  const { operator, traffic, random, say } = parts;
  const [watched] = traffic.accounts;
  if (!watched) throw new Error('there are no accounts');
  const bill = watchBill(operator, watched, () => traffic.now());
  const { token } = await operator.newAccount(UNLIMITED);
  const changes = await AdminChanges.start(
    parts,
    options.seed,
    companies.map(({ id }) => id),
  );
  await delay(LEAD_IN_MS);
  const results: RowResult[] = [];
  const ofRound = () => random.shuffled(ROWS.filter(({ name }) => name.includes(options.only)));
  await inRounds(parts, options, ofRound, async (row) => {
    const result = await sufferRow({ ...parts, bill, token }, row);
    results.push(result);
    say(rowLine(results.length, result));
  });
  await changes.stop();
  await bill.stop();
  return {
    broken: results.flatMap(({ row, broken }) => broken.map((line) => `${row.name}: ${line}`)),
    check: () => changes.differences(),
    report: () => {
      sayTable(results, say);
      say(`admin changes    ${changes.summary()}`);
    },
  };
}

async function sufferRow(parts: Elections, row: ElectionRow): Promise<RowResult> {
  const { stack, traffic, bill } = parts;
  const broken: string[] = [];
  const accounts = async (allowances: readonly number[]) => {
    const all: TrafficAccount[] = [];
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
        await delay(parts.random.between(0, SAME_SECOND_MS));
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
      boundMs: boundAfterLosses(row.losses),
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
async function beginOneByOne(traffic: Traffic, accounts: readonly TrafficAccount[]): Promise<void> {
  for (const account of accounts) {
    traffic.begin(account);
    await delay(NEXT_AFTER_MS);
  }
}

/** Whether new tokens, first calls of accounts and calls for uncached records are asked for meanwhile. */
function needsQuestions({ losses }: ElectionRow): boolean {
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
async function questions(parts: Elections): Promise<Question[]> {
  const callOfAccount = await callFor(parts, 'an account without a grant');
  return Object.entries(NEEDS).map(([name, wanted]): Question => {
    const need = name as Need;
    const call = async () =>
      need === 'an account without a grant' ? callOfAccount() : (await callFor(parts, need))();
    return [need, async () => nameOf(await call()) === wanted];
  });
}

/** Returns how long each question goes without an answer from now on. */
async function msUntilAnswered(calls: readonly Question[]): Promise<Map<Need, number>> {
  return new Map(
    await Promise.all(calls.map(async ([need, ask]) => [need, await msUntilOneHolds(ask)] as const)),
  );
}

/**
 * Returns how long it takes until one call of `holds` resolves to true. Calls again while earlier calls are open, as those may
 * fail late.
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
