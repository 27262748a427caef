import { setTimeout as delay } from 'node:timers/promises';
import { AllowanceSigner } from '@brand-data/accounts/src/rpc/allowance-signer.ts';
import { type GrantUsage, Route, usageStream } from '@brand-data/contracts';
import {
  meteringClient,
  newAccount,
  newHolder,
  signedEvent,
} from '@brand-data/metering/test/metering-client.ts';
import { signingKeyFromPem } from '@brand-data/runtime';
import { channelFrom } from '@brand-data/runtime/test/channel-as.ts';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { msUntil, type Stand, startStand } from './engine.ts';
import { sumOf } from './ledger.ts';
import { UNLIMITED } from './traffic.ts';

const GRANTS_PER_S = 500;
const TICK_MS = 20;
const ACCOUNTS = 50;
/** A holder may have only a few open grants of an account. */
const HOLDERS = 100;
/** The most requests at a time. Without this bound, metering would be busy with requests whose callers no longer wait. */
const MOST_IN_FLIGHT = 250;
const ASK_WITHIN_MS = 3_000;
/** Short enough that some requests reach the next primary in its first moments. */
const AGAIN_AFTER_MS = 50;
const BEFORE_MS = 2_000;
const AFTER_MS = 3_000;
const ELECTED_WITHIN_MS = 12_000;
const BILLED_WITHIN_MS = 60_000;
const WHOLE_WITHIN_MS = 60_000;
const CLOSED_AT_ONCE = 200;

/** A grant of which the run uses one permit. */
interface Given {
  account: string;
  holder: string;
  grantId: string;
}

/** Kills MongoDB's primary this many times under 500 grants a second. Returns the usage that was not billed. */
export async function runFailOvers(times: number, say: (line: string) => void): Promise<string[]> {
  const stand = await startStand({ gateways: 1, meterings: 2, clusters: true }, []);
  const metering = await connectAsGateways(stand);
  const violations: string[] = [];
  const all: Awaited<ReturnType<typeof failOverOnce>>[] = [];
  try {
    for (let number = 1; number <= times; number++) {
      const failOver = await failOverOnce(stand, metering);
      all.push(failOver);
      const { electedMs, grants, refused, lost } = failOver;
      say(
        `${String(number).padStart(3)}  grants given again after ${electedMs.toFixed(0)} ms; ${grants} grants, usage of ${refused} refused, usage of ${lost} not billed`,
      );
      const broken = [
        refused > 0 && `metering refused the usage of ${refused} grants`,
        lost > 0 && `metering has not billed the usage of ${lost} grants`,
        electedMs > ELECTED_WITHIN_MS &&
          `metering gave grants again only after ${electedMs.toFixed(0)} ms (bound ${ELECTED_WITHIN_MS} ms)`,
      ];
      violations.push(...broken.filter(Boolean).map((line) => `fail-over ${number}: ${line}`));
    }
  } finally {
    await metering.close();
    await stand.stop();
  }
  const elected = all.map(({ electedMs }) => electedMs.toFixed(0)).sort((a, b) => Number(a) - Number(b));
  const sum = (figure: 'grants' | 'refused' | 'lost') => sumOf(all.map((each) => each[figure]));
  say(
    `${all.length} fail-overs: grants given again after ${elected[0]}/${elected[elected.length >> 1]}/${elected.at(-1)} ms (min/median/max); ${sum('grants')} grants, usage of ${sum('refused')} refused, usage of ${sum('lost')} not billed`,
  );
  return violations;
}

type Metering = Awaited<ReturnType<typeof connectAsGateways>>;

/**
 * Kills the primary once. Meanwhile the run sends each grant's usage as soon as metering gives the grant, and repeats it until it
 * is accepted.
 */
async function failOverOnce({ stack, operator }: Stand, metering: Metering) {
  const mongod = stack.clusters?.mongod;
  const primary = await mongod?.leader();
  if (!mongod || primary === undefined) throw new Error('MongoDB has no primary');
  const load = startLoad(metering);
  await delay(BEFORE_MS);
  await stack.kill(primary);
  const lostMs = performance.now();
  await load.givesAgain();
  const electedMs = performance.now() - lostMs;
  await delay(AFTER_MS);
  await stack.restart(primary);
  const { given, refused } = await load.end();
  let lost = 0;
  const isBilled = async () => {
    const missing: number[] = [];
    for (const [account, { length }] of Map.groupBy(given, (each) => each.account))
      missing.push(Math.max(0, length - ((await operator.usage(account))[0]?.used ?? 0)));
    lost = sumOf(missing);
    return lost === 0;
  };
  lost = given.length;
  await msUntil(isBilled, BILLED_WITHIN_MS);
  // If these grants stayed open, the settler would have to read all of them again and again until it settles them.
  for (let at = 0; at < given.length; at += CLOSED_AT_ONCE) {
    const closing = given.slice(at, at + CLOSED_AT_ONCE);
    await Promise.all(closing.map(({ grantId }) => untilDone(() => metering.report(usageOf(grantId, true)))));
  }
  await msUntil(() => mongod.isWhole(), WHOLE_WITHIN_MS);
  return { electedMs, grants: given.length, refused, lost };
}

/** Requests grants and reports their usage as many gateways do. */
async function connectAsGateways({ stack }: Stand) {
  const { certificates, operator, secrets, natsUrl, meteringTargets } = stack;
  const nats = await connect({ servers: natsUrl.split(','), maxReconnectAttempts: -1 });
  const stream = jetstream(nats);
  const signer = new AllowanceSigner(signingKeyFromPem(secrets.allowanceSigningKey));
  const channel = (identity: string, peer: string) => channelFrom(certificates, identity, peer);
  const replicas = meteringTargets.map((target) =>
    meteringClient({ target, adminTarget: operator.metering }, operator.operatorToken, {
      channel,
      deadlineMs: ASK_WITHIN_MS,
    }),
  );
  const holders = Array.from({ length: HOLDERS }, newHolder);
  let seq = 0;
  let turn = 0;
  const replica = () => {
    turn += 1;
    const found = replicas[turn % replicas.length];
    if (!found) throw new Error('there are no replicas');
    return found;
  };
  return {
    async acquire(account: string): Promise<Given> {
      seq += 1;
      const holder = holders[seq % HOLDERS] ?? '';
      const pools = [{ name: 'calls', allowance: UNLIMITED, routes: [] }];
      const { token } = await signer.sign({ _id: account, revision: 0 }, { pools, revision: 1 }, Date.now());
      const request = { holder, seq, limit: UNLIMITED, want: 10, allowance: token };
      return { account, holder, grantId: (await replica().grantFor(account, request)).id };
    },
    /** Sends usage by a Report. Resolves to the number of grants whose usage metering refused. */
    async report(usage: GrantUsage): Promise<number> {
      const { unavailableGrantIds, refusedGrantIds } = await replica().report(usage);
      if (unavailableGrantIds.length > 0) throw new Error('metering could not store the usage');
      return refusedGrantIds.length;
    },
    /** Sends usage on the stream. */
    async publish(usage: GrantUsage, holder: string): Promise<void> {
      const { payload, options } = signedEvent([usage]);
      const more = { msgID: usage.grantId, timeout: ASK_WITHIN_MS };
      await stream.publish(usageStream(1).subjectOf(holder), payload, { ...options, ...more });
    },
    async close() {
      for (const client of replicas) client.close();
      await nats.close();
    },
  };
}

/** Requests grants and uses one permit of each, until its end. */
function startLoad(metering: Metering) {
  const accounts = Array.from({ length: ACCOUNTS }, newAccount);
  const given: Given[] = [];
  const inFlight = new Set<Promise<void>>();
  const beganMs = performance.now();
  let waiting = { sinceMs: Number.POSITIVE_INFINITY, resolve: () => {} };
  let asked = 0;
  let refused = 0;
  const useOne = async (account: string) => {
    const askedMs = performance.now();
    const grant = await metering.acquire(account).catch(() => undefined);
    if (!grant) return;
    if (askedMs > waiting.sinceMs) waiting.resolve();
    given.push(grant);
    const usage = usageOf(grant.grantId);
    if (given.length % 2 === 0) await untilDone(() => metering.publish(usage, grant.holder));
    else {
      const count = await untilDone(() => metering.report(usage));
      refused += count;
    }
  };
  const ticking = setInterval(() => {
    const due = ((performance.now() - beganMs) / 1_000) * GRANTS_PER_S;
    for (; asked < due; asked++) {
      if (inFlight.size >= MOST_IN_FLIGHT) continue;
      const using = useOne(accounts[asked % ACCOUNTS] ?? '').finally(() => inFlight.delete(using));
      inFlight.add(using);
    }
  }, TICK_MS);
  return {
    /** Resolves when metering has given a grant that was requested after this call. */
    givesAgain: () =>
      new Promise<void>((resolve) => {
        waiting = { sinceMs: performance.now(), resolve };
      }),
    /** Stops requesting grants. Resolves when all usage is durable or refused. */
    async end() {
      clearInterval(ticking);
      while (inFlight.size > 0) await Promise.all(inFlight);
      return { given, refused };
    },
  };
}

/** Repeats the attempt until it succeeds, as gateways do. */
async function untilDone<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await delay(AGAIN_AFTER_MS);
    }
  }
}

function usageOf(grantId: string, closed = false): GrantUsage {
  const day = new Date().toISOString().slice(0, 10);
  const cells = [{ keyId: 'key', route: Route.BRANDS, status: 200, day, count: 1 }];
  return { grantId, used: 1, returned: 0, closed, cells, partial: false };
}
