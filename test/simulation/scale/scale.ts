import { simulateAccount } from './account.ts';

/** A population of accounts whose traffic follows Zipf's law, over many gateways. */
export interface Population {
  gateways: number;
  accounts: number;
  callsPerSecond: number;
  /** Gateways that one account's calls reach: all, or the ones that an ingress hashes its token to. */
  gatewaysPerAccount: number;
}

/** What it asks of metering and of the bus, a second. */
export interface ScaleResult {
  acquires: number;
  closes: number;
  /** Shares of all calls. */
  acquireShare: number;
  waitedShare: number;
  /** Synced publishes that the gateways would make if the bus took any number of them. */
  publishesWanted: number;
  /** Streams needed to take them at the measured rate of one leader. */
  streams: number;
  /** Milliseconds that a call waits for its batch with that many streams. */
  batchWaitMs: number;
}

/** Synced publishes a second of one stream's leader, and a round trip to it (test/simulation/scale/README.md). */
const PUBLISHES_OF_A_STREAM = 2_300;
const PUBLISH_MS = 2;
const BATCHES_IN_FLIGHT = 2;
/** Accounts that are simulated in the place of all: dense at the top, where the traffic is. */
const SAMPLES = 40;

/** Accounts are independent of one another at metering, so a sample of ranks, weighted, stands for all of them. */
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
  // A gateway publishes as soon as one of its two batches is back: no faster than its calls come.
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
 * Milliseconds that a call waits for its batch. With fewer streams the batches queue at their leaders, grow, and are waited
 * for longer; nothing else changes.
 */
export function batchWaitMs(gateways: number, streams: number): number {
  const queueMs = ((gateways * BATCHES_IN_FLIGHT) / (streams * PUBLISHES_OF_A_STREAM)) * 1_000;
  return Math.max(PUBLISH_MS, queueMs);
}

/** Every rank at the top, then ever fewer; each stands for the ranks up to the next one. */
function sampleRanks(accounts: number, samples: number): { rank: number; weight: number }[] {
  const edges = new Set<number>([1]);
  for (let index = 0; index <= samples; index++) edges.add(Math.round(accounts ** (index / samples)));
  const starts = [...edges].sort((a, b) => a - b);
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? accounts + 1;
    // The rank whose traffic is the mean of the ranks that it stands for.
    let sum = 0;
    for (let rank = start; rank < end; rank++) sum += 1 / rank;
    return { rank: (end - start) / sum, weight: end - start };
  });
}
