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
import { type Campaign, msUntil, type Parts, runCampaign, seconds, type Watch } from './engine.ts';
import { sumOf } from './ledger.ts';
import type { Harness } from './stack.ts';
import { UNLIMITED } from './traffic.ts';

const ACCOUNTS = 50;
/** A holder may have only a few open grants of an account. */
const HOLDERS = 100;
/** The most requests at a time. With more, metering would be busy with requests whose callers no longer wait. */
const USERS = 250;
const USE_EVERY_MS = 500;
const ASK_WITHIN_MS = 3_000;
/** Short enough that some requests reach the next primary in its first moments. */
const AGAIN_AFTER_MS = 50;
const BEFORE_MS = 2_000;
const AFTER_MS = 3_000;
const ELECTED_WITHIN_MS = 12_000;
const BILLED_WITHIN_MS = 60_000;
const WHOLE_WITHIN_MS = 60_000;
const CLOSED_AT_ONCE = 200;

/** Kills MongoDB's primary this many times under 500 grants a second. Returns the usage that was not billed, and late grants. */
export function runFailOvers(times: number, say: (line: string) => void): Promise<string[]> {
  let metering: Metering;
  const faults = [{ part: 'mongod leader', how: 'killed' }] as const;
  const campaign: Campaign = {
    stack: { gateways: 1, meterings: 2, clusters: true },
    unlimitedPerS: 0,
    leadInMs: 0,
    rows: () =>
      Array.from({ length: times }, (_, index) => ({
        name: `fail-over ${index + 1}`,
        kind: `${times} fail-overs`,
        faults,
        awayMs: 0,
      })),
    async begin(parts) {
      metering = await connectAsGateways(parts);
      return { stop: () => metering.close() };
    },
    watch: async (parts, _row, broken) => [watchGrants(parts, metering, broken)],
  };
  return runCampaign(campaign, { minutes: 0, seed: 1, only: '', settleMinutes: 0, say });
}

type Metering = Awaited<ReturnType<typeof connectAsGateways>>;

/** Sends each grant's usage as soon as metering gives the grant, and repeats it until it is accepted. */
function watchGrants({ stack, operator, say }: Parts, metering: Metering, broken: string[]): Watch {
  let load: ReturnType<typeof startLoad>;
  let lostMs = 0;
  let electedMs = 0;
  return {
    begin: async () => {
      load = startLoad(metering);
      await delay(BEFORE_MS);
    },
    meanwhile: async () => {
      lostMs = performance.now();
      await load.givesAgain();
      electedMs = performance.now() - lostMs;
      await delay(AFTER_MS);
    },
    back: async () => {
      const { given, refused } = await load.end();
      let lost = given.length;
      const isBilled = async () => {
        const missing: number[] = [];
        for (const [account, { length }] of Map.groupBy(given, (each) => each.account))
          missing.push(Math.max(0, length - ((await operator.usage(account))[0]?.used ?? 0)));
        lost = sumOf(missing);
        return lost === 0;
      };
      await msUntil(isBilled, BILLED_WITHIN_MS);
      say(`     ${given.length} grants, usage of ${refused} refused, usage of ${lost} not billed`);
      if (refused > 0) broken.push(`metering refused the usage of ${refused} grants`);
      if (lost > 0) broken.push(`metering has not billed the usage of ${lost} grants`);
      // If these grants stayed open, the settler would have to read all of them again and again until it settles them.
      for (let at = 0; at < given.length; at += CLOSED_AT_ONCE) {
        const closing = given.slice(at, at + CLOSED_AT_ONCE).map(({ grantId }) => usageOf(grantId, true));
        await Promise.all(closing.map((usage) => untilDone(() => metering.report(usage))));
      }
      await msUntil(async () => (await stack.clusters?.mongod.isWhole()) === true, WHOLE_WITHIN_MS);
    },
    judge() {
      if (electedMs > ELECTED_WITHIN_MS)
        broken.push(`metering gave grants again only after ${seconds(electedMs)}`);
      return { 'grants given again after': electedMs };
    },
  };
}

/** Requests grants and reports their usage as many gateways do. */
async function connectAsGateways({ stack }: Harness) {
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
    const found = replicas[turn++ % replicas.length];
    if (!found) throw new Error('there are no replicas');
    return found;
  };
  return {
    async acquire(account: string) {
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
  const given: Awaited<ReturnType<Metering['acquire']>>[] = [];
  let waiting = { sinceMs: Number.POSITIVE_INFINITY, resolve: () => {} };
  let isGoing = true;
  let refused = 0;
  const useOne = async (account: string) => {
    const askedMs = performance.now();
    const grant = await metering.acquire(account).catch(() => undefined);
    if (!grant) return;
    if (askedMs > waiting.sinceMs) waiting.resolve();
    given.push(grant);
    const usage = usageOf(grant.grantId);
    if (given.length % 2 === 0) return untilDone(() => metering.publish(usage, grant.holder));
    const count = await untilDone(() => metering.report(usage));
    refused += count;
  };
  const users = Array.from({ length: USERS }, async (_, user) => {
    for (; isGoing; await delay(USE_EVERY_MS)) await useOne(accounts[user % ACCOUNTS] ?? '');
  });
  return {
    /** Resolves when metering has given a grant that was requested after this call. */
    givesAgain: () =>
      new Promise<void>((resolve) => {
        waiting = { sinceMs: performance.now(), resolve };
      }),
    /** Stops requesting grants. Resolves when all usage is durable or refused. */
    async end() {
      isGoing = false;
      await Promise.all(users);
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
