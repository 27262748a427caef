import { setTimeout as delay } from 'node:timers/promises';
import { Route } from '@brand-data/contracts';
import { type CallOutcome, isCounted, nameOf } from './api-call.ts';
import { type Campaign, msUntil, type Parts, type Watch } from './engine.ts';
import type { FaultRow } from './fault.ts';
import { enter, judge, newCallLedger, strangenessOf } from './ledger.ts';
import { NEW_CALLS, type NewCall, prepareNew, prepareQuestions } from './new-calls.ts';
import { UNLIMITED, type Window } from './traffic.ts';

/** No answer may take longer than 3 s, whichever part is away. The bound is larger so that a slow machine passes. */
const ANSWERED_WITHIN_MS = 4_000;
const RECOVERED_WITHIN_MS = 20_000;
const SETTLED_WITHIN_MS = 40_000;
/** This leaves out calls that began before the outage took effect. Both parts are lost within 0.8 s. */
const IN_EFFECT_AFTER_MS = 1_500;

/** A row of the table "When a part is down" (services/README.md). */
interface Outage extends FaultRow {
  /** The new calls that are made meanwhile, and how they end: with this status and, if it is given, this X-Quota-Charged. */
  needing?: Partial<Record<NewCall, readonly [status: string, charged?: '0' | '1']>>;
  /** A metric of gateways that must grow meanwhile, because an alert depends on it. */
  metric?: { name: string; labels?: Record<string, string> };
}

const UNAVAILABLE_ACQUIRES = { name: 'gateway_quota_acquires_total', labels: { outcome: 'unavailable' } };
const unanswered = (upstream: string) => ({ name: 'gateway_upstream_failures_total', labels: { upstream } });
const NEW_TOKEN = { 'a new token': ['503'] } as const;
const NEW_ACCOUNT = { 'an account without a grant': ['503', '0'] } as const;
const NEW_RECORD = { 'a record that is not cached': ['503', '0'] } as const;

const PARTS: Record<string, Pick<Outage, 'needing' | 'metric' | 'mayTell503'> & { away: string[] }> = {
  accounts: { away: ['accounts'], needing: NEW_TOKEN, metric: unanswered('accounts') },
  metering: { away: ['metering'], needing: NEW_ACCOUNT, metric: UNAVAILABLE_ACQUIRES },
  'all databases': {
    away: ['mongod'],
    needing: { ...NEW_TOKEN, ...NEW_ACCOUNT, ...NEW_RECORD },
    metric: UNAVAILABLE_ACQUIRES,
  },
  NATS: {
    away: ['nats-server'],
    needing: { 'an account without a grant': ['200', '1'] },
    metric: { name: 'gateway_usage_commit_duration_seconds_count', labels: { path: 'report' } },
  },
  'NATS and metering': {
    away: ['nats-server', 'metering'],
    mayTell503: true,
    metric: { name: 'gateway_usage_commit_failed_calls_total' },
  },
  catalog: { away: ['catalog'], needing: NEW_RECORD, metric: unanswered('catalog') },
  // Records name images without asking the service.
  images: { away: ['images'] },
};
const GATEWAY_KILLED = 'a gateway killed';

/** Returns all rows. A killed process refuses connections. A frozen one keeps them open and does not answer. */
export function outages(awayMs: number): Outage[] {
  const rows = (['killed', 'frozen'] as const).flatMap((how) =>
    Object.entries(PARTS).map(([name, { away, ...more }]) => ({
      name: `${name} ${how}`,
      faults: away.map((part) => ({ part, how })),
      awayMs,
      ...more,
    })),
  );
  const faults = [{ part: 'gateway-1', how: 'killed' }] as const;
  return [...rows, { name: GATEWAY_KILLED, faults, losesGrants: true, awayMs: 0 }];
}

export const OUTAGE_NAMES = outages(0).map(({ name }) => name);

const watch = async (parts: Parts, row: Outage, broken: string[]) => [
  await (row.name === GATEWAY_KILLED ? watchPermit(parts, broken) : watchOutage(parts, row, broken)),
];

/** Two gateways serve accounts that are far from their limits, with a steady load. */
export const outageCampaign = (leadInMs: number, rows: readonly Outage[]): Campaign<Outage> => ({
  stack: { gateways: 2 },
  unlimitedPerS: 13,
  leadInMs,
  rows: () => rows,
  watch,
});

async function watchOutage(parts: Parts, row: Outage, broken: string[]): Promise<Watch> {
  const { stack, client, operator } = parts;
  const { needing = {}, metric, mayTell503, awayMs } = row;
  const { token } = await operator.newAccount(UNLIMITED);
  const needs = Object.entries(needing) as [NewCall, readonly [string, string?]][];
  let longestMs = 0;
  const probe = async (call: NewCall, ask: () => Promise<CallOutcome>, wanted: string, charged?: string) => {
    const beganMs = performance.now();
    const outcome = await ask();
    longestMs = Math.max(longestMs, performance.now() - beganMs);
    const told = nameOf(outcome);
    if (told !== wanted) broken.push(`a call with ${call} ended with ${told} instead of ${wanted}`);
    if (outcome.kind !== 'answered' || wanted !== '503') return;
    const strangeness = strangenessOf(outcome);
    if (strangeness) broken.push(`a call with ${call} got ${strangeness}`);
    const given = outcome.headers['x-quota-charged'];
    if (charged !== undefined && given !== charged)
      broken.push(`a call with ${call} got X-Quota-Charged: ${given} instead of ${charged}`);
  };
  for (const [call] of needs) await probe(call, await prepareNew(parts, call, token), NEW_CALLS[call]);
  const prepared = await Promise.all(
    needs.map(async ([call, ends]) => ({ call, ends, ask: await prepareNew(parts, call, token) })),
  );
  const questions = await prepareQuestions(
    parts,
    needs.map(([call]) => call),
  );
  const isWellAgain = async () => {
    const calls = stack.gateways.map(({ url }) => client.get(`${url}/v1/brands/ZPHX?token=${token}`));
    const isAnswered = (await Promise.all(calls)).every(isCounted);
    const areWell = await Promise.all(questions.map(({ ask }) => ask()));
    return areWell.every(Boolean) && (isAnswered || !mayTell503);
  };
  const gateways = stack.gateways.map(({ name }) => name);
  const measured = async () => (metric ? stack.metric(gateways, metric.name, metric.labels) : 0);
  let before = 0;
  let recoveredMs: number | undefined;
  return {
    begin: async () => {
      before = await measured();
    },
    meanwhile: async () => {
      const endMs = performance.now() + awayMs;
      // The probes wait until gateways have noticed the fault. Requests that were already sent to the part fail in another way.
      await delay(Math.min(1_500, awayMs / 2));
      for (const { call, ask, ends } of prepared) await probe(call, ask, ...ends);
      const grew = async () => (await measured()) > before;
      if (metric && (await msUntil(grew, endMs - performance.now())) === undefined)
        broken.push(`${metric.name} did not grow: it is still ${before}`);
    },
    back: async () => {
      recoveredMs = await msUntil(isWellAgain, RECOVERED_WITHIN_MS);
    },
    judge(window) {
      if (recoveredMs === undefined)
        broken.push(`not every call was answered again within ${RECOVERED_WITHIN_MS} ms after the return`);
      longestMs = Math.max(longestMs, ...window.calls.map(({ beganMs, endedMs }) => endedMs - beganMs));
      if (longestMs > ANSWERED_WITHIN_MS) broken.push(`an answer took ${longestMs.toFixed(0)} ms`);
      if (mayTell503 && hasAnswered(window)) broken.push('gateways answered calls that could not be billed');
      return { 'longest call': longestMs, 'answered again after': recoveredMs ?? RECOVERED_WITHIN_MS };
    },
  };
}

/** Checks whether any call was answered, or none was made, while the outage was in effect. */
function hasAnswered({ calls, beganMs, backMs }: Window): boolean {
  const meanwhile = calls.filter(
    (call) => call.beganMs > beganMs + IN_EFFECT_AFTER_MS && call.endedMs < backMs,
  );
  return meanwhile.length === 0 || meanwhile.some(({ what }) => what !== '503');
}

/**
 * When the gateway is killed, the account's only permit is reserved for a call that waits for its record. Metering finds out that
 * no call used the permit only when it settles the grant. After that, another gateway can get the permit.
 */
async function watchPermit({ stack, operator, client }: Parts, broken: string[]): Promise<Watch> {
  const [killed, other] = stack.gateways;
  if (!killed || !other) throw new Error('two gateways are needed');
  const account = await operator.newAccount(1);
  const ledger = newCallLedger(1, account.keyId);
  for (const { url } of stack.gateways) await client.get(`${url}/v1/usage?token=${account.token}`);
  const call = async ({ url }: { url: string }, identifier: string) => {
    const beganMs = performance.now();
    const outcome = await client.get(`${url}/v1/brands/${identifier}?token=${account.token}`);
    enter(ledger, { route: Route.BRANDS, beganMs, endedMs: performance.now(), outcome });
    return nameOf(outcome);
  };
  const settled = () => stack.metric(['metering'], 'metering_settled_grants_total');
  let before = 0;
  let settledMs: number | undefined;
  let reserved = Promise.resolve('');
  return {
    begin: async () => {
      before = await settled();
      stack.freeze('catalog');
      reserved = call(killed, 'nobody-yet');
      await delay(700);
    },
    meanwhile: async () => {
      stack.thaw('catalog');
      if ((await reserved) !== 'lost') broken.push('the call was answered before its gateway was killed');
      const isSettled = async () => {
        const told = await call(other, 'ZPHX');
        if (told !== '503' && told !== '200')
          broken.push(`a call ended with ${told} instead of 503 while the permit was not available`);
        return told === '200';
      };
      settledMs = await msUntil(isSettled, SETTLED_WITHIN_MS);
      if (settledMs === undefined)
        broken.push(`the permit was not available again after ${SETTLED_WITHIN_MS} ms`);
      const next = await call(other, 'ZPHX');
      if (next !== '429')
        broken.push(`a call ended with ${next} instead of 429 when the last permit was used`);
      if ((await settled()) <= before) broken.push('metering_settled_grants_total did not grow');
    },
    back: async () => {
      const [pool] = await operator.usage(account.accountId);
      broken.push(...judge(ledger, pool, true));
    },
    judge: () => ({ 'permit used again after': settledMs ?? SETTLED_WITHIN_MS }),
  };
}
