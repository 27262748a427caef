import { setTimeout as delay } from 'node:timers/promises';
import { Route } from '@brand-data/contracts';
import { MongoClient } from 'mongodb';
import { nameOf } from './api-call.ts';
import { msUntil } from './engine.ts';
import { type Harness, startHarness } from './stack.ts';

const ASK_EVERY_MS = 50;
const UNCHANGED_FOR_MS = 700;
const GIVEN_UP_AFTER_MS = 15_000;
/** The promise is 1 s. The bound is larger so that a slow machine passes. */
const ARRIVED_WITHIN_MS = 3_000;
const BOTH_ROUTES = [Route.BRANDS, Route.LOGOS];

/** The faults that happen while the changes are made. */
export const MISHAPS = [
  'nothing is wrong',
  'the notices to a gateway are lost',
  'accounts is killed between commit and notice',
] as const;

/**
 * How long a gateway took to apply a change. The time begins with the change's confirmation or, if accounts was killed, when
 * accounts serves again. A time is undefined if 15 s were not enough.
 */
interface Arrival {
  change: string;
  gateway: string;
  /**
   * When the last call began that still got the answer from before the change. 0 if no call that began after the confirmation got
   * it.
   */
  oldUntilMs?: number;
  /** From when on calls got the answer of after the change. In between, some answers were 503. */
  newFromMs?: number;
}

type Change = Awaited<ReturnType<typeof prepare>>[number];

/** Starts a stack for `runChanges`. */
export function startChangeHarness(): Promise<Harness> {
  return startHarness({ canBeCutOff: { 'gateway-1': ['NATS'], accounts: ['NATS'] } });
}

/** Makes each kind of change once, all at about the same time. */
export async function runChanges(harness: Harness, mishap: (typeof MISHAPS)[number]): Promise<Arrival[]> {
  const { stack } = harness;
  const changes = await prepare(harness);
  for (const change of changes)
    for (const { url, name } of stack.gateways) {
      const isTold = async () => (await ask(harness, change, url)) === change.before;
      if ((await msUntil(isTold, GIVEN_UP_AFTER_MS)) === undefined)
        throw new Error(`${change.name}: ${name} does not answer ${change.before} before the change`);
    }
  if (mishap === 'nothing is wrong') return follow(harness, changes, (change) => change.make());
  if (mishap === 'the notices to a gateway are lost') {
    stack.cut('gateway-1');
    const arrivals = await follow(harness, changes, (change) => change.make());
    stack.heal('gateway-1');
    await untilOnStream(harness, 'gateway-1');
    return arrivals;
  }
  await killBetweenCommitAndNotice(harness, changes);
  return follow(harness, changes, () => Promise.resolve());
}

/** Waits until the gateway has noticed that its connection to NATS is dead and has opened another. */
async function untilOnStream({ stack, operator, client }: Harness, name: string): Promise<void> {
  const { token } = await operator.newAccount(1_000);
  const gateway = stack.gateways.find((each) => each.name === name);
  const onStream = () =>
    stack.metric([name], 'gateway_usage_commit_duration_seconds_count', { path: 'stream' });
  const before = await onStream();
  const isBack = async () => {
    await client.get(`${gateway?.url}/v1/brands/ZPHX?token=${token}`);
    return (await onStream()) !== before;
  };
  if ((await msUntil(isBack, GIVEN_UP_AFTER_MS)) === undefined)
    throw new Error(`${name} did not reconnect to NATS`);
}

/** Creates an account for each change. */
async function prepare({ operator }: Harness) {
  const plan = (name: string, allowance: number, routes = BOTH_ROUTES) =>
    operator.setPlan(name, [{ name: routes.length === 1 ? 'logos' : 'calls', allowance, routes }]);
  const larger = await operator.newAccount(2);
  const [smaller, revoked, closed] = [
    await operator.newAccount(1_000),
    await operator.newAccount(1_000),
    await operator.newAccount(1_000),
  ];
  await plan('free', 100, [Route.LOGOS]);
  await plan('paid', 1_000);
  const upgradedId = await operator.createAccount('free');
  const upgraded = await operator.createKey(upgradedId);
  const rows: [string, { token: string }, string, string, () => Promise<void>][] = [
    ['a larger allowance', larger, '429', '200', () => plan(larger.plan, 100_000)],
    ['a smaller allowance', smaller, '200', '429', () => plan(smaller.plan, 1)],
    ['free to paid', upgraded, '403', '200', () => operator.setAccountPlan(upgradedId, 'paid')],
    ['a revoked key', revoked, '200', '401', () => operator.revokeKey(revoked.keyId)],
    ['a closed account', closed, '200', '401', () => operator.closeAccount(closed.accountId)],
  ];
  return rows.map(([name, { token }, before, after, make]) => ({ name, token, before, after, make }));
}

async function ask({ client }: Harness, { token }: Change, gatewayUrl: string): Promise<string> {
  return nameOf(await client.get(`${gatewayUrl}/v1/brands/ZPHX?token=${token}`));
}

/** Makes each change while every gateway answers calls, and finds when calls last got the answer from before the change. */
async function follow(
  harness: Harness,
  changes: readonly Change[],
  make: (change: Change) => Promise<void>,
): Promise<Arrival[]> {
  const followed = changes.map(async (change) => {
    let confirmedAtMs = Number.POSITIVE_INFINITY;
    const made = make(change).then(() => {
      confirmedAtMs = performance.now();
    });
    const arrivals = harness.stack.gateways.map(async ({ name, url }): Promise<Arrival> => {
      let lastOldMs = Number.NEGATIVE_INFINITY;
      let lastNotNewMs = Number.NEGATIVE_INFINITY;
      const arrival = { change: change.name, gateway: name };
      const after = (atMs: number) => Math.max(0, atMs - confirmedAtMs);
      for (; ; await delay(ASK_EVERY_MS)) {
        const beganMs = performance.now();
        if (beganMs - confirmedAtMs > GIVEN_UP_AFTER_MS) return arrival;
        const told = await ask(harness, change, url);
        if (told === change.before) lastOldMs = beganMs;
        if (told !== change.after) lastNotNewMs = beganMs;
        if (performance.now() > Math.max(confirmedAtMs, lastNotNewMs) + UNCHANGED_FOR_MS)
          return { ...arrival, oldUntilMs: after(lastOldMs), newFromMs: after(lastNotNewMs) };
      }
    });
    await made;
    return Promise.all(arrivals);
  });
  return (await Promise.all(followed)).flat();
}

/**
 * Kills accounts after the changes are committed and before it sends their notices. The gateways still receive the stream, so
 * only the outbox in accounts' database shows that they miss notices.
 */
async function killBetweenCommitAndNotice({ stack }: Harness, changes: readonly Change[]): Promise<void> {
  const database = new MongoClient(stack.mongodbUrl);
  try {
    const outbox = database.db(`${stack.databasePrefix}_accounts`).collection('outbox');
    stack.cut('accounts');
    const made = Promise.allSettled(changes.map((change) => change.make()));
    const areCommitted = async () => (await outbox.countDocuments()) >= changes.length;
    if ((await msUntil(areCommitted, GIVEN_UP_AFTER_MS)) === undefined)
      throw new Error('the changes were not committed');
    await stack.kill('accounts');
    for (const { status } of await made)
      if (status === 'fulfilled') throw new Error('a change was confirmed whose notice was not sent');
  } finally {
    await database.close();
    stack.heal('accounts');
  }
  await stack.restart('accounts');
}

/** Returns a line for each change that took too long. */
export function tooLate(arrivals: readonly Arrival[], withinMs = ARRIVED_WITHIN_MS): string[] {
  return arrivals.filter(({ newFromMs = Number.POSITIVE_INFINITY }) => newFromMs > withinMs).map(lineOf);
}

function lineOf({ change, gateway, oldUntilMs, newFromMs }: Arrival): string {
  if (newFromMs === undefined) return `${change.padEnd(20)} ${gateway}  never applied`;
  return `${change.padEnd(20)} ${gateway}  last old answer after ${oldUntilMs?.toFixed(0)} ms, only new answers after ${newFromMs.toFixed(0)} ms`;
}

/** Makes the changes once with each mishap. Returns the changes that took too long. */
export async function runAllChanges(say: (line: string) => void): Promise<string[]> {
  const harness = await startChangeHarness();
  const violations: string[] = [];
  try {
    for (const mishap of MISHAPS) {
      say(mishap);
      const arrivals = await runChanges(harness, mishap);
      for (const arrival of arrivals) say(`  ${lineOf(arrival)}`);
      violations.push(...tooLate(arrivals).map((line) => `${mishap}: ${line}`));
    }
  } finally {
    await harness.stop();
  }
  return violations;
}
