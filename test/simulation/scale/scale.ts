import { simulateAccount } from './account.ts';

/** Accounts whose traffic follows Zipf's law, over many gateways. */
export interface Population {
  gateways: number;
  accounts: number;
  callsPerSecond: number;
  /** How many gateways an account's calls reach: all of them, or those to which an ingress hashes its token. */
  gatewaysPerAccount: number;
}

/** The load on metering and on NATS, per second. */
export interface ScaleResult {
  acquires: number;
  closes: number;
  /** Shares of all calls. */
  acquireShare: number;
  waitedShare: number;
  /** Synced publishes that gateways would make if streams accepted any number of them. */
  publishesWanted: number;
  /** How many streams are needed for that, at the measured rate of one leader. */
  streams: number;
  /** How long a call waits for its batch with that many streams, in milliseconds. */
  batchWaitMs: number;
}

/**
 * How many synced publishes a second one stream's leader takes, and the time of one round trip to it
 * (test/simulation/scale/README.md).
 */
const PUBLISHES_OF_A_STREAM = 2_300;
const PUBLISH_MS = 2;
const BATCHES_IN_FLIGHT = 2;
/** How many accounts are simulated instead of all. Most of them are at the top ranks, which have most of the traffic. */
const SAMPLES = 40;

/**
 * Simulates a weighted sample of accounts. Accounts do not affect one another at metering, so the sample represents all of
 * them.
 */
export function simulateScale(population: Population, random: () => number): ScaleResult {
  const { accounts, callsPerSecond, gateways, gatewaysPerAccount } = population;
  const ranks = sampleRanks(accounts, SAMPLES);
  let harmonic = 0;
  for (let rank = 1; rank <= accounts; rank++) harmonic += 1 / rank;
  const total = { calls: 0, acquires: 0, closes: 0, waited: 0 };
  for (const { rank, weight } of ranks) {
    const rate = callsPerSecond / harmonic / rank;
    const load = simulateAccount({ callsPerSecond: rate, gateways: gatewaysPerAccount }, random);
    total.calls += (load.calls / load.seconds) * weight;
    total.acquires += (load.acquires / load.seconds) * weight;
    total.closes += (load.closes / load.seconds) * weight;
    total.waited += (load.waited / load.seconds) * weight;
  }
  // A gateway publishes when one of its two batches has been acknowledged, and not more often than calls arrive.
  const perGateway = Math.min(callsPerSecond / gateways, (BATCHES_IN_FLIGHT * 1_000) / PUBLISH_MS);
  const publishesWanted = perGateway * gateways;
  const streams = Math.ceil(publishesWanted / PUBLISHES_OF_A_STREAM);
  return {
    acquires: total.acquires,
    closes: total.closes,
    acquireShare: total.acquires / total.calls,
    waitedShare: total.waited / total.calls,
    publishesWanted,
    streams,
    batchWaitMs: batchWaitMs(gateways, streams),
  };
}

/**
 * How long a call waits for its batch, in milliseconds. With fewer streams, batches queue at the leaders and grow, so calls wait
 * longer for them.
 */
export function batchWaitMs(gateways: number, streams: number): number {
  const queueMs = ((gateways * BATCHES_IN_FLIGHT) / (streams * PUBLISHES_OF_A_STREAM)) * 1_000;
  return Math.max(PUBLISH_MS, queueMs);
}

/** Samples every rank at the top, and fewer further down. Each sample represents the ranks up to the next one. */
function sampleRanks(accounts: number, samples: number): { rank: number; weight: number }[] {
  const edges = new Set<number>([1]);
  for (let index = 0; index <= samples; index++) edges.add(Math.round(accounts ** (index / samples)));
  const starts = [...edges].sort((a, b) => a - b);
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? accounts + 1;
    // The rank whose traffic is the mean of the ranks that it represents.
    let sum = 0;
    for (let rank = start; rank < end; rank++) sum += 1 / rank;
    return { rank: (end - start) / sum, weight: end - start };
  });
}
