import { expect } from 'vitest';
import { type Load, type LoadResult, runLoad } from '../load.ts';
import type { Server } from './servers.ts';

/** How two servers are loaded. Each of them gets all of the load in its turns. */
export interface Turns extends Omit<Load, 'forMs' | 'calls'> {
  warmUpMs?: number;
  rounds?: number;
  roundMs?: number;
}

/** The median, the lowest and the highest of some rounds. */
export interface Spread {
  median: number;
  lowest: number;
  highest: number;
}

/** The figures of a server: its calls a second, the microseconds of processor time of a call, and its latency in ms. */
type Figures = Record<'callsPerSecond' | 'micros' | 'p99', Spread>;

export interface Comparison {
  subject: Figures;
  baseline: Figures;
  /** Calls a second, divided by those of the baseline in the same round. */
  ratioOfCalls: Spread;
  /** Calls for the same processor time of the server's process, divided by those of the baseline in the same round. */
  ratioOfProcessorTime: Spread;
  /** By how many ms the 99th percentile of the latency is above that of the baseline in the same round. */
  differenceOfP99: Spread;
}

/** Loads the two servers in turns, so that both find the machine in the same state. Fails unless all answers are 200. */
export async function compareInTurns(subject: Server, baseline: Server, turns: Turns): Promise<Comparison> {
  const { warmUpMs = 3_000, rounds: times = 5, roundMs = 2_500, ...load } = turns;
  for (const { target } of [subject, baseline]) await runLoad(target, { ...load, forMs: warmUpMs });
  const measure = async ({ target, cpuMicros }: Server): Promise<LoadResult & { micros: number }> => {
    const before = await cpuMicros();
    const result = await runLoad(target, { ...load, forMs: roundMs });
    expect([...result.byStatus.keys()]).toEqual([200]);
    return { ...result, micros: ((await cpuMicros()) - before) / result.calls };
  };
  const rounds = await inTurns(
    () => measure(subject),
    () => measure(baseline),
    times,
  );
  const over = (figure: (round: (typeof rounds)[number]) => number) => spreadOf(rounds.map(figure));
  const figuresOf = (side: 'own' | 'base'): Figures => ({
    callsPerSecond: over((round) => round[side].callsPerSecond),
    micros: over((round) => round[side].micros),
    p99: over((round) => round[side].p99),
  });
  return {
    subject: figuresOf('own'),
    baseline: figuresOf('base'),
    ratioOfCalls: over(({ own, base }) => own.callsPerSecond / base.callsPerSecond),
    ratioOfProcessorTime: over(({ own, base }) => base.micros / own.micros),
    differenceOfP99: over(({ own, base }) => own.p99 - base.p99),
  };
}

/** Runs two measurements in turns, so that both find the machine in the same state. */
export async function inTurns<Own, Base>(
  measureOwn: () => Promise<Own>,
  measureBase: () => Promise<Base>,
  times = 5,
): Promise<{ own: Own; base: Base }[]> {
  const rounds: { own: Own; base: Base }[] = [];
  for (let round = 0; round < times; round++)
    rounds.push({ own: await measureOwn(), base: await measureBase() });
  return rounds;
}

/** How many parts a round of calls is cut into. */
const SLICES = 8;

/**
 * Makes a round of calls to each contestant, in turns of few calls each, so that all find the machine in the same state.
 *
 * @param time makes so many calls with this seed, and returns their latencies
 */
export async function inSlices<Contestant>(
  contestants: readonly Contestant[],
  { calls, seed }: { calls: number; seed: number },
  time: (contestant: Contestant, seed: number, calls: number) => Promise<number[]>,
): Promise<number[][]> {
  const latencies = contestants.map((): number[] => []);
  for (let slice = 0; slice < SLICES; slice++)
    for (const [index, contestant] of contestants.entries())
      latencies[index]?.push(...(await time(contestant, seed * SLICES + slice, calls / SLICES)));
  return latencies;
}

/** For a single figure, all three are this figure. */
export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return { median: at(Math.floor(sorted.length / 2)), lowest: at(0), highest: at(sorted.length - 1) };
}
