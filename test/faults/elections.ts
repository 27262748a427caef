import { setTimeout as delay } from 'node:timers/promises';
import { BrandType } from '@brand-data/contracts';
import { AdminChanges } from './admin-changes.ts';
import {
  type Campaign,
  type CampaignOptions,
  msUntil,
  type Parts,
  runCampaign,
  seconds,
  type Watch,
} from './engine.ts';
import type { FaultRow, How, InjectedFault } from './fault.ts';
import { type NewCall, prepareQuestions } from './new-calls.ts';
import type { CutFrom } from './stack.ts';
import type { AnswerGap } from './traffic.ts';

/** The parts that are lost within the same second, and the bounds that hold meanwhile. */
interface ElectionRow extends FaultRow {
  /**
   * No account goes longer than this without a counted answer or a 429 of a gateway that is not faulty. The same bound holds for
   * new tokens, first calls of accounts and uncached records.
   */
  answeredWithinMs: number;
  /** No counted answer is billed later than this. Infinite: the run only shows the delay. */
  billedWithinMs: number;
}

const PRIMARY_MS = 12_000;
const NATS_LEADER_MS = 3_000;
const REPLICA_MS = 2_000;
/** Near the limit, the permits of a gateway that gets no recall become available when its grants end after 5 s. */
const UNHEARD_RECALL_MS = 7_000;
/**
 * The stream may deliver messages to a frozen replica until the replica's last pull ends, up to 5 s later. Another replica gets
 * them 2 s after that, and needs some time to apply them.
 */
const TAKEN_MS = 11_000;
const WHOLE_WITHIN_MS = 60_000;
/** Longer than any bound. After this time the run no longer waits for answers. */
const GIVEN_UP_AFTER_MS = 40_000;
const ASK_EVERY_MS = 500;
const LOOK_EVERY_MS = 250;

const PRIMARY = 'mongod leader';
const SECONDARY = 'mongod follower';
const LEADER = 'nats-server leader';
const FOLLOWER = 'nats-server follower';
const GATEWAY = 'gateway-2';
const METERING = 'metering-2';
const NAMES: Record<string, string> = {
  [PRIMARY]: "MongoDB's primary",
  [SECONDARY]: 'a secondary of MongoDB',
  [LEADER]: "NATS' leader",
  [FOLLOWER]: 'a follower of NATS',
  [METERING]: 'a metering replica',
  [GATEWAY]: 'a gateway',
};

/** Two of the seven accounts of a row begin before the fault. */
function rowOf(
  faults: readonly InjectedFault[],
  answeredWithinMs: number,
  more: Partial<ElectionRow> = {},
): ElectionRow {
  return {
    name: faults.map(({ part, how }) => `${NAMES[part] ?? part} ${how}`).join(', '),
    faults,
    losesGrants: faults.some(({ part, how }) => part === GATEWAY && how !== 'cut off'),
    awayMs: 8_000,
    answeredWithinMs,
    billedWithinMs: faults.some(({ part }) => part.startsWith('mongod'))
      ? Number.POSITIVE_INFINITY
      : TAKEN_MS,
    before: [40, 300],
    meanwhile: [1, 5, 40, 5, 1],
    ...more,
  };
}

const both = (part: string, how: How, other: string, otherHow: How) => [
  { part, how },
  { part: other, how: otherHow },
];

const rowOfCut = (part: string, from?: CutFrom, answeredWithinMs = REPLICA_MS) =>
  rowOf([{ part, how: 'cut off', from }], answeredWithinMs, {
    name: `${part} cut off from ${from ?? 'everything'}`,
  });

export const ROWS: readonly ElectionRow[] = [
  ...(['killed', 'frozen'] as const).flatMap((how) => [
    rowOf([{ part: PRIMARY, how }], PRIMARY_MS),
    rowOf([{ part: SECONDARY, how }], REPLICA_MS),
    rowOf([{ part: LEADER, how }], NATS_LEADER_MS, { billedWithinMs: NATS_LEADER_MS }),
    rowOf([{ part: FOLLOWER, how }], NATS_LEADER_MS),
    rowOf([{ part: METERING, how }], REPLICA_MS),
    rowOf([{ part: GATEWAY, how }], REPLICA_MS),
    rowOf(both(PRIMARY, 'killed', GATEWAY, how), PRIMARY_MS),
    rowOf(both(PRIMARY, how, METERING, how), PRIMARY_MS),
    rowOf(both(LEADER, 'killed', GATEWAY, how), NATS_LEADER_MS),
    rowOf(both(LEADER, how, METERING, how), NATS_LEADER_MS),
  ]),
  // Operators' changes go to the first replicas.
  ...['accounts-1', 'catalog-1', 'images-2'].map((part) => rowOf([{ part, how: 'killed' }], REPLICA_MS)),
  ...['accounts-2', 'catalog-2'].map((part) => rowOf([{ part, how: 'frozen' }], REPLICA_MS)),
  rowOf([{ part: PRIMARY, how: 'isolated' }], PRIMARY_MS, {
    name: "MongoDB's primary cut off from the other members",
  }),
  rowOf(both(PRIMARY, 'killed', LEADER, 'killed'), PRIMARY_MS, {
    name: "MongoDB's primary and NATS' leader killed",
    mayTell503: true,
  }),
  rowOf(both(GATEWAY, 'killed', METERING, 'killed'), REPLICA_MS, {
    name: 'a gateway and a metering replica killed',
  }),
  rowOfCut(METERING, 'MongoDB'),
  rowOfCut(METERING, 'NATS'),
  rowOfCut(METERING, 'gateways'),
  rowOfCut(METERING),
  rowOfCut(GATEWAY, 'NATS', UNHEARD_RECALL_MS),
  rowOfCut(GATEWAY, 'metering'),
];

/** Records that operators change. */
const companies = Array.from({ length: 40 }, (_, index) => ({
  id: `company-${index}`,
  type: BrandType.BRAND,
  name: `Company Number ${index}`,
  domains: [`company-${index}.example.com`],
}));

/**
 * Loses cluster members, gateways, metering replicas and links while accounts are driven past their limits. Compares for each
 * account the answers that callers saw with the bill. Returns the violations.
 */
export function runElections(options: CampaignOptions): Promise<string[]> {
  const campaign: Campaign<ElectionRow> = {
    stack: {
      gateways: 3,
      meterings: 2,
      others: 2,
      clusters: true,
      canBeCutOff: { [GATEWAY]: ['NATS', 'metering'], [METERING]: ['NATS', 'MongoDB', 'gateways'] },
    },
    records: companies,
    unlimitedPerS: 15,
    leadInMs: 20_000,
    finishesAfterMs: 3_000,
    billedWithinMs: 90_000,
    rows: ({ random }) => random.shuffled(ROWS),
    begin: (parts) =>
      AdminChanges.start(
        parts,
        options.seed,
        companies.map(({ id }) => id),
      ),
    watch: async (parts, row, broken) => [
      await watchAnswers(parts, row, broken),
      watchBill(parts, row, broken),
      watchClusters(parts, broken),
    ],
  };
  return runCampaign(campaign, options);
}

/** Measures how long the longest time without an answer is: of all accounts, new tokens and uncached records. */
async function watchAnswers(parts: Parts, row: ElectionRow, broken: string[]): Promise<Watch> {
  const { faults, answeredWithinMs } = row;
  const { traffic } = parts;
  const isAsked = faults.some(({ part }) => /^(mongod|nats-server|accounts|catalog)/.test(part));
  const asks = isAsked ? await prepareQuestions(parts) : [];
  const newMs = new Map<NewCall, number>();
  const msOf = ({ fromMs, toMs = traffic.now() }: AnswerGap) => toMs - fromMs;
  return {
    meanwhile: () =>
      Promise.all(asks.map(async ({ call, ask }) => newMs.set(call, await msUntilOneHolds(ask)))),
    judge(window) {
      const gaps = window.gaps.filter(({ isExcused }) => !isExcused);
      for (const gap of gaps.filter((each) => msOf(each) > answeredWithinMs)) {
        const { account, countedBefore, fromMs, failed, endedBy } = gap;
        const next =
          endedBy === undefined ? 'no later call was answered' : `the next call ended with ${endedBy}`;
        broken.push(
          `account ${account} (${countedBefore} counted answers before) had no answer for ${seconds(msOf(gap))}, from ${seconds(fromMs - window.beganMs)} after the fault: ${failed} calls failed, ${next}`,
        );
      }
      for (const [call, ms] of newMs)
        if (ms > answeredWithinMs)
          broken.push(`calls of the kind "${call}" had no answer for ${seconds(ms)}`);
      return { 'answered again after': Math.max(0, ...newMs.values(), ...gaps.map(msOf)) };
    },
  };
}

/**
 * Returns how long it takes until one call of `holds` resolves to true. Calls again while earlier calls are open, as those may
 * fail late.
 */
async function msUntilOneHolds(holds: () => Promise<boolean>): Promise<number> {
  const beganMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<number>();
  const asking = setInterval(async () => {
    if (await holds().catch(() => false)) resolve(performance.now() - beganMs);
  }, ASK_EVERY_MS);
  const late = setTimeout(() => resolve(GIVEN_UP_AFTER_MS), GIVEN_UP_AFTER_MS);
  return promise.finally(() => {
    clearInterval(asking);
    clearTimeout(late);
  });
}

/** Compares an account's counted answers with its bill, four times a second. */
function watchBill({ operator, traffic }: Parts, { billedWithinMs }: ElectionRow, broken: string[]): Watch {
  const [watched] = traffic.accounts;
  if (!watched) throw new Error('there are no accounts');
  const { accountId, ledger } = watched;
  let latestMs = 0;
  let isGoing = true;
  const billed = async () => (await operator.usage(accountId).catch(() => []))[0]?.used;
  const watch = async (unseen: number) => {
    for (; isGoing; await delay(LOOK_EVERY_MS)) {
      const askedMs = traffic.now();
      // The time of the first counted answer that is not billed yet.
      const seenMs = ledger.countedAtMs[((await billed()) ?? Number.POSITIVE_INFINITY) - unseen];
      if (seenMs !== undefined) latestMs = Math.max(latestMs, askedMs - seenMs);
    }
  };
  return {
    begin: async () => {
      // The number of billed calls that failed for their callers.
      const unseen = Math.max(0, ((await billed()) ?? 0) - ledger.counted);
      void watch(unseen);
    },
    judge() {
      isGoing = false;
      if (latestMs > billedWithinMs)
        broken.push(`a counted answer was not in the bill after ${seconds(latestMs)}`);
      return { 'bill late by': latestMs };
    },
  };
}

function watchClusters({ stack: { clusters } }: Parts, broken: string[]): Watch {
  const areWhole = async () => {
    const all = Object.values(clusters ?? {}).map((cluster) => cluster.isWhole());
    return (await Promise.all(all)).every(Boolean);
  };
  return {
    back: async () => {
      if ((await msUntil(areWhole, WHOLE_WITHIN_MS)) === undefined)
        broken.push(`a member had not rejoined its cluster after ${seconds(WHOLE_WITHIN_MS)}`);
    },
  };
}
