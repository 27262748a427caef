import { setTimeout as delay } from 'node:timers/promises';
import { createToken, Route } from '@brand-data/contracts';
import { type CallOutcome, isCounted, nameOf } from './api-call.ts';
import { type Stand, startStand } from './engine.ts';
import { enter, judge, newCallLedger } from './ledger.ts';
import { startLoad } from './load.ts';
import { UNLIMITED } from './traffic.ts';

/** No answer may take longer than 3 s, whichever part is away. The bound is larger so that a slow machine passes. */
const ANSWERED_WITHIN_MS = 4_000;
const RECOVERED_WITHIN_MS = 20_000;
const SETTLED_WITHIN_MS = 40_000;

/** One row of the table "When a part is down" (services/README.md). */
export interface Outage {
  name: string;
  /** The processes that are away. */
  away: string[];
  /** A killed process refuses connections. A frozen one keeps them open and does not answer. */
  how: 'killed' | 'frozen';
  /** How calls of an active account for cached records end meanwhile. */
  told: 'answers' | '503';
  needing?: Probe[];
  /** A metric of a gateway that must grow meanwhile, because an alert depends on it. */
  metric?: { name: string; labels?: Record<string, string> };
}

/** A call that needs the part that is away. `before`: how it ends before and after the outage. */
interface Probe {
  calls: Need;
  before: string;
  meanwhile: string;
  charged?: '0' | '1';
}

/** A call for something new, so that no cache can answer it. */
export type Need = 'a new token' | 'an account without a grant' | 'a record that is not cached';

const UNAVAILABLE_ACQUIRES = { name: 'gateway_quota_acquires_total', labels: { outcome: 'unavailable' } };
const unanswered = (upstream: string) => ({ name: 'gateway_upstream_failures_total', labels: { upstream } });
const NEW_TOKEN: Probe = { calls: 'a new token', before: '401', meanwhile: '503' };
const NEW_ACCOUNT: Probe = {
  calls: 'an account without a grant',
  before: '200',
  meanwhile: '503',
  charged: '0',
};
const NEW_RECORD: Probe = {
  calls: 'a record that is not cached',
  before: '404',
  meanwhile: '503',
  charged: '0',
};

export const OUTAGES: Outage[] = (['killed', 'frozen'] as const).flatMap((how): Outage[] => [
  {
    name: `accounts ${how}`,
    away: ['accounts'],
    how,
    told: 'answers',
    needing: [NEW_TOKEN],
    metric: unanswered('accounts'),
  },
  {
    name: `metering ${how}`,
    away: ['metering'],
    how,
    told: 'answers',
    needing: [NEW_ACCOUNT],
    metric: UNAVAILABLE_ACQUIRES,
  },
  {
    name: `all databases ${how}`,
    away: ['mongod'],
    how,
    told: 'answers',
    needing: [NEW_TOKEN, NEW_ACCOUNT, NEW_RECORD],
    metric: UNAVAILABLE_ACQUIRES,
  },
  {
    name: `NATS ${how}`,
    away: ['nats-server'],
    how,
    told: 'answers',
    needing: [{ ...NEW_ACCOUNT, meanwhile: '200', charged: '1' }],
    metric: { name: 'gateway_usage_commit_duration_seconds_count', labels: { path: 'report' } },
  },
  {
    name: `NATS and metering ${how}`,
    away: ['nats-server', 'metering'],
    how,
    told: '503',
    metric: { name: 'gateway_usage_commit_failed_calls_total' },
  },
  {
    name: `catalog ${how}`,
    away: ['catalog'],
    how,
    told: 'answers',
    needing: [NEW_RECORD],
    metric: unanswered('catalog'),
  },
  // Records name images without asking the service.
  { name: `images ${how}`, away: ['images'], how, told: 'answers' },
]);

/** The names of all rows. The last one is not in OUTAGES because it is run differently. */
export const OUTAGE_NAMES = [...OUTAGES.map(({ name }) => name), 'a gateway killed'];

interface OutageResult {
  /** The differences from the table. Empty: none. */
  broken: string[];
  calls: number;
  longestMs: number;
  /** The time from when the part serves again until everything is answered again. */
  recoveredMs: number;
}

/** A stack with a steady load of one account that is far from its limit. */
export interface OutageStand {
  run(outage: Outage, awayMs: number): Promise<OutageResult>;
  /** Runs the row "a gateway": the permits that the gateway held become available again, exactly once. */
  runGatewayKill(): Promise<{ broken: string[]; settledMs: number }>;
  /** Ends the load, and compares the answers that callers saw with the bill. */
  stop(): Promise<string[]>;
}

export async function startOutageStand(warmUpMs: number): Promise<OutageStand> {
  const stand = await startStand({ gateways: 2 });
  const { stack, operator, client } = stand;
  const { accountId, token, keyId } = await operator.newAccount(UNLIMITED);
  const ledger = newCallLedger(UNLIMITED, keyId);
  const load = startLoad(stack, client, ledger, token);
  const prober = await operator.newAccount(UNLIMITED);
  await delay(warmUpMs);
  const parts = { ...stand, load, token: prober.token };
  return {
    run: (outage, awayMs) => runOutage(parts, outage, awayMs),
    runGatewayKill: () => runGatewayKill(parts),
    stop: async () => {
      await load.stop();
      for (const { name } of stack.gateways) await stack.restart(name);
      const [pool] = await operator.usage(accountId);
      await stand.stop();
      return judge(ledger, pool, false);
    },
  };
}

interface Parts extends Stand {
  load: ReturnType<typeof startLoad>;
  /** The token of another account than the load's. */
  token: string;
}

async function runOutage(parts: Parts, outage: Outage, awayMs: number): Promise<OutageResult> {
  const { stack, load } = parts;
  const { away, how, needing = [], told } = outage;
  const broken: string[] = [];
  let longestMs = 0;
  const probe = async (calls: Need, ask: () => Promise<CallOutcome>, wanted: string, charged?: string) => {
    const beganMs = performance.now();
    const outcome = await ask();
    const tookMs = performance.now() - beganMs;
    longestMs = Math.max(longestMs, tookMs);
    if (nameOf(outcome) !== wanted)
      broken.push(`a call with ${calls} ended with ${nameOf(outcome)} instead of ${wanted}`);
    if (outcome.kind !== 'answered' || wanted !== '503') return;
    const { headers } = outcome;
    if (headers['content-type'] !== 'application/problem+json') broken.push('a 503 was not problem+json');
    if (headers['retry-after'] === undefined) broken.push('a 503 had no Retry-After');
    if (charged !== undefined && headers['x-quota-charged'] !== charged)
      broken.push(
        `a call with ${calls} got X-Quota-Charged: ${headers['x-quota-charged']} instead of ${charged}`,
      );
  };
  for (const { calls, before } of needing) await probe(calls, await callFor(parts, calls), before);
  const prepared = await Promise.all(
    needing.map(async (need) => ({ need, ask: await callFor(parts, need.calls) })),
  );

  load.take();
  const metricBefore = await metricOf(parts, outage);
  const beganMs = performance.now();
  for (const name of away) how === 'killed' ? await stack.kill(name) : stack.freeze(name);
  // The probes wait until gateways have noticed the loss. Requests that were already sent to the part fail in another way.
  await delay(Math.min(1_500, awayMs / 2));
  for (const { need, ask } of prepared) await probe(need.calls, ask, need.meanwhile, need.charged);
  await delay(Math.max(0, awayMs - (performance.now() - beganMs)));
  const metricAfter = await metricOf(parts, outage);
  const meanwhile = load.take();
  for (const name of away) how === 'killed' ? await stack.restart(name) : stack.thaw(name);

  const backMs = performance.now();
  const recoveredMs = await untilRecovered(parts, outage, needing, backMs);
  if (recoveredMs > RECOVERED_WITHIN_MS)
    broken.push(`not every call was answered again within ${RECOVERED_WITHIN_MS} ms after the return`);
  const after = load.take();

  for (const { beganMs, endedMs } of [...meanwhile, ...after])
    longestMs = Math.max(longestMs, endedMs - beganMs);
  if (longestMs > ANSWERED_WITHIN_MS) broken.push(`an answer took ${longestMs.toFixed(0)} ms`);
  const wrong = (told === 'answers' ? [...meanwhile, ...after] : meanwhile).filter(({ outcome }) =>
    told === 'answers' ? !isCounted(outcome) : nameOf(outcome) !== '503' && !isCounted(outcome),
  );
  if (wrong.length > 0) {
    const first = wrong[0];
    broken.push(
      `${wrong.length} of ${meanwhile.length + after.length} calls ended with ${[...new Set(wrong.map(({ outcome }) => nameOf(outcome)))].join(', ')}, the first ${((first?.beganMs ?? 0) - beganMs).toFixed(0)} ms after the loss`,
    );
  }
  if (told === '503') {
    // This leaves out calls that began before the outage took effect.
    const late = meanwhile.filter((call) => call.beganMs > beganMs + 500);
    if (late.length === 0 || late.some(({ outcome }) => nameOf(outcome) !== '503'))
      broken.push('gateways answered calls that could not be billed');
  }
  if (outage.metric && !((metricAfter ?? 0) > (metricBefore ?? 0)))
    broken.push(
      `${outage.metric.name} did not grow: ${metricBefore} before the loss, ${metricAfter} at its end`,
    );
  return { broken, calls: meanwhile.length + after.length, longestMs, recoveredMs };
}

/** Prepares a call that no cache can answer. It can be made only once, because afterwards a cache answers it. */
export async function callFor(
  { stack, operator, client, token }: Omit<Parts, 'load' | 'stop'>,
  need: Need,
): Promise<() => Promise<CallOutcome>> {
  const [gateway] = stack.gateways;
  const brand = (identifier: string, of: string) => () =>
    client.get(`${gateway?.url}/v1/brands/${encodeURIComponent(identifier)}?token=${of}`);
  if (need === 'a new token') return brand('ZPHX', createToken());
  if (need === 'a record that is not cached') return brand(`nobody knows ${createToken()}`, token);
  const account = await operator.newAccount(1_000);
  // This makes the gateway cache the token, without a request for a grant.
  await client.get(`${gateway?.url}/v1/usage?token=${account.token}`);
  return brand('ZPHX', account.token);
}

/** Waits until both gateways answer the load, and the calls that need the part end as before. */
async function untilRecovered(
  parts: Parts,
  { told }: Outage,
  needing: readonly Probe[],
  backMs: number,
): Promise<number> {
  const { stack, client, token } = parts;
  const accounts = new Map<Need, () => Promise<CallOutcome>>();
  for (;;) {
    const sinceMs = performance.now() - backMs;
    if (sinceMs > RECOVERED_WITHIN_MS) return sinceMs;
    const outcomes = await Promise.all(
      stack.gateways.map(({ url }) => client.get(`${url}/v1/brands/ZPHX?token=${token}`)),
    );
    let isWell = told === 'answers' || outcomes.every(isCounted);
    for (const { calls, before } of needing) {
      try {
        const ask = accounts.get(calls) ?? (await callFor(parts, calls));
        if (calls === 'an account without a grant') accounts.set(calls, ask);
        isWell &&= nameOf(await ask()) === before;
      } catch {
        isWell = false;
      }
    }
    if (isWell) return performance.now() - backMs;
    await delay(100);
  }
}

async function metricOf({ stack }: Parts, { metric }: Outage): Promise<number | undefined> {
  if (!metric) return undefined;
  const values = await Promise.all(
    stack.gateways.map(async ({ name }) => (await stack.metrics(name)).sum(metric.name, metric.labels)),
  );
  return values.reduce((sum: number, value) => sum + (value ?? 0), 0);
}

/**
 * When the gateway is killed, the account's only permit is reserved for a call that waits for its record. Metering finds out that
 * no call used the permit only when it settles the grant. After that, another gateway can get the permit.
 */
async function runGatewayKill(parts: Parts): Promise<{ broken: string[]; settledMs: number }> {
  const { stack, operator, client, load } = parts;
  const [killed, other] = stack.gateways;
  if (!killed || !other) throw new Error('two gateways are needed');
  const broken: string[] = [];
  const account = await operator.newAccount(1);
  const ledger = newCallLedger(1, account.keyId);
  for (const { url } of stack.gateways) await client.get(`${url}/v1/usage?token=${account.token}`);
  const call = async (url: string, identifier: string) => {
    const beganMs = performance.now();
    const outcome = await client.get(`${url}/v1/brands/${identifier}?token=${account.token}`);
    enter(ledger, { route: Route.BRANDS, beganMs, endedMs: performance.now(), outcome });
    return outcome;
  };
  const settledBefore = (await stack.metrics('metering')).sum('metering_settled_grants_total') ?? 0;
  load.take();
  stack.freeze('catalog');
  const reserved = call(killed.url, 'nobody-yet');
  await delay(700);
  await stack.kill(killed.name);
  stack.thaw('catalog');
  if (nameOf(await reserved) !== 'lost') broken.push('the call was answered before its gateway was killed');
  const beganMs = performance.now();
  let outcome = await call(other.url, 'ZPHX');
  while (!isCounted(outcome) && performance.now() - beganMs < SETTLED_WITHIN_MS) {
    if (nameOf(outcome) !== '503')
      broken.push(
        `a call ended with ${nameOf(outcome)} instead of 503 while the killed gateway's permit was not available`,
      );
    await delay(250);
    outcome = await call(other.url, 'ZPHX');
  }
  const settledMs = performance.now() - beganMs;
  if (!isCounted(outcome)) broken.push(`the permit was not available again after ${SETTLED_WITHIN_MS} ms`);
  const next = nameOf(await call(other.url, 'ZPHX'));
  if (next !== '429') broken.push(`a call ended with ${next} instead of 429 when the last permit was used`);
  const others = load.take().filter(({ gateway }) => gateway === other.name);
  const failed = others.filter((each) => !isCounted(each.outcome));
  if (failed.length > 0) broken.push(`${failed.length} calls failed on the other gateway`);
  const settled = (await stack.metrics('metering')).sum('metering_settled_grants_total') ?? 0;
  if (settled <= settledBefore) broken.push('metering_settled_grants_total did not grow');
  await stack.restart(killed.name);
  const [pool] = await operator.usage(account.accountId);
  broken.push(...judge(ledger, pool, true));
  return { broken, settledMs };
}

/** Runs all rows one after another. Returns a line for each difference from the table. */
export async function runOutages({
  rows,
  awayMs,
  say,
}: {
  rows: readonly string[];
  awayMs: number;
  say: (line: string) => void;
}): Promise<string[]> {
  // A gateway holds permits in advance for 30 s of the traffic that it has seen, so it must see the traffic for a while.
  const stand = await startOutageStand(Math.min(60_000, awayMs * 2));
  const isWanted = (name: string) => rows.length === 0 || rows.some((row) => name.startsWith(row));
  const violations: string[] = [];
  try {
    for (const outage of OUTAGES.filter(({ name }) => isWanted(name))) {
      const { broken, calls, longestMs, recoveredMs } = await stand.run(outage, awayMs);
      say(
        `${outage.name.padEnd(26)} ${calls} calls, longest ${longestMs.toFixed(0)} ms, all answered again ${recoveredMs.toFixed(0)} ms after the return: ${broken.length === 0 ? 'no violation' : broken.join('; ')}`,
      );
      violations.push(...broken.map((line) => `${outage.name}: ${line}`));
      await delay(Math.min(10_000, awayMs));
    }
    if (isWanted('a gateway killed')) {
      const { broken, settledMs } = await stand.runGatewayKill();
      say(
        `${'a gateway killed'.padEnd(26)} another call used its permit ${settledMs.toFixed(0)} ms later: ${broken.length === 0 ? 'no violation' : broken.join('; ')}`,
      );
      violations.push(...broken.map((line) => `a gateway killed: ${line}`));
    }
  } finally {
    violations.push(...(await stand.stop()).map((line) => `the bill: ${line}`));
  }
  return violations;
}
