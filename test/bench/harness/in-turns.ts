import { expect } from 'vitest';
import { type LoadResult, type Paths, runLoad, runSteadyLoad } from '../load.ts';
import type { Server } from './servers.ts';

const WARM_UP_MS = 3_000;
const ROUND_MS = 2_500;
const ROUNDS = 5;
/**
 * A pause of the machine spoils the 99th percentile of the round that it falls into. Therefore these rounds are short and
 * numerous.
 */
const LATENCY_ROUND_MS = 1_000;
const LATENCY_ROUNDS = 15;

/** The median, the lowest and the highest of some rounds. */
export interface Spread {
  median: number;
  lowest: number;
  highest: number;
}

export interface Comparison {
  subject: { callsPerSecond: Spread; micros: Spread; p99: Spread };
  baseline: { callsPerSecond: Spread; micros: Spread; p99: Spread };
  /** Calls a second, divided by those of the baseline in the same round. */
  ratioOfCalls: Spread;
  /** Calls for the same processor time of the server's process, divided by those of the baseline in the same round. */
  ratioOfProcessorTime: Spread;
}

/** Loads the two servers in turns, so that both find the machine in the same state. Fails unless all answers are 200. */
export async function compareInTurns(
  subject: Server,
  baseline: Server,
  {
    paths,
    connections,
    warmUpMs = WARM_UP_MS,
    rounds: times = ROUNDS,
    roundMs = ROUND_MS,
  }: { paths: Paths; connections: number; warmUpMs?: number; rounds?: number; roundMs?: number },
): Promise<Comparison> {
  for (const { target } of [subject, baseline])
    await runLoad(target, { paths, connections, forMs: warmUpMs });
  const measure = async ({ target, cpuMicros }: Server): Promise<LoadResult & { micros: number }> => {
    const before = await cpuMicros();
    const result = await runLoad(target, { paths, connections, forMs: roundMs });
    expect([...result.byStatus.keys()]).toEqual([200]);
    return { ...result, micros: ((await cpuMicros()) - before) / result.calls };
  };
  const rounds = await inTurns(
    () => measure(subject),
    () => measure(baseline),
    times,
  );
  const over = (figure: (round: (typeof rounds)[number]) => number) => spreadOf(rounds.map(figure));
  return {
    subject: {
      callsPerSecond: over(({ own }) => own.callsPerSecond),
      micros: over(({ own }) => own.micros),
      p99: over(({ own }) => own.p99),
    },
    baseline: {
      callsPerSecond: over(({ base }) => base.callsPerSecond),
      micros: over(({ base }) => base.micros),
      p99: over(({ base }) => base.p99),
    },
    ratioOfCalls: over(({ own, base }) => own.callsPerSecond / base.callsPerSecond),
    ratioOfProcessorTime: over(({ own, base }) => base.micros / own.micros),
  };
}

/** The 99th percentiles of two servers' latencies, and by how much the first is above the second, in milliseconds. */
export interface LatencyComparison {
  subject: Spread;
  baseline: Spread;
  difference: Spread;
}

/** Compares the latencies of two servers at the same rate of calls. Fails unless all answers are 200. */
export async function compareLatencies(
  subject: Server,
  baseline: Server,
  load: { paths: Paths; connections: number; callsPerSecond: number },
): Promise<LatencyComparison> {
  for (const { target } of [subject, baseline]) await runSteadyLoad(target, { ...load, forMs: WARM_UP_MS });
  const measure = async ({ target }: Server): Promise<number> => {
    const { byStatus, p99 } = await runSteadyLoad(target, { ...load, forMs: LATENCY_ROUND_MS });
    expect([...byStatus.keys()]).toEqual([200]);
    return p99;
  };
  const rounds = await inTurns(
    () => measure(subject),
    () => measure(baseline),
    LATENCY_ROUNDS,
  );
  return {
    subject: spreadOf(rounds.map(({ own }) => own)),
    baseline: spreadOf(rounds.map(({ base }) => base)),
    difference: spreadOf(rounds.map(({ own, base }) => own - base)),
  };
}

/** Runs two measurements in turns, so that both find the machine in the same state. */
export async function inTurns<Own, Base>(
  measureOwn: () => Promise<Own>,
  measureBase: () => Promise<Base>,
  times = ROUNDS,
): Promise<{ own: Own; base: Base }[]> {
  const rounds: { own: Own; base: Base }[] = [];
  for (let round = 0; round < times; round++)
    rounds.push({ own: await measureOwn(), base: await measureBase() });
  return rounds;
}

/** For a single figure, all three are this figure. */
export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return { median: at(Math.floor(sorted.length / 2)), lowest: at(0), highest: at(sorted.length - 1) };
}
