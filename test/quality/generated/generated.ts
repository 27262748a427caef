import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRandom, type Random } from '@brand-data/testing/random';
import { importers } from './importers.ts';
import { decoders, publicApi, type Target } from './inputs.ts';

export const USAGE = `Usage: npm run generated -- [--inputs 1000000] [--seed 1] [--only NAME]

Gives generated inputs to the public API, to the decoders of gRPC and NATS, and to the importers, a third each. Ends with an error
at the first 5xx or crash, if memory has grown by more than 32 MiB since the first tenth, and if it is ever more than 256 MiB.
  --only NAME   give all of them to one: api, decoders or importers`;

const MIB = 1 << 20;
const MOST_GROWTH = 32 * MIB;
const MOST_MEMORY = 256 * MIB;

export const OPTIONS = {
  inputs: { type: 'string', default: '1000000' },
  seed: { type: 'string', default: '1' },
  only: { type: 'string' },
} as const;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

export async function run({ inputs, seed, only }: Record<string, string | undefined>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'brand-data-generated-'));
  try {
    const targets = { api: publicApi, decoders, importers: () => importers(folder) };
    const chosen = Object.entries(targets).filter(([name]) => only === undefined || only === name);
    for (const [name, start] of chosen)
      await give(name, await start(), Number(inputs) / chosen.length, createRandom(Number(seed)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function give(name: string, target: Target, most: number, random: Random): Promise<void> {
  await using given = target;
  let count = 0;
  let peak = 0;
  let before: number | undefined;
  for (; count < most; count += given.inputs) {
    if (before === undefined && count >= most / 10) before = memory();
    await given.try(random);
    peak = Math.max(peak, taken());
  }
  const growth = memory() - (before ?? 0);
  console.log(
    `${name}: ${count} inputs, memory grew by ${(growth / MIB).toFixed(1)} MiB, at most ${(peak / MIB).toFixed(0)} MiB`,
  );
  if (growth > MOST_GROWTH) throw new Error(`the memory of ${name} grows`);
  if (peak > MOST_MEMORY) throw new Error(`${name} takes too much memory`);
}

/** What is in use, without garbage. */
function memory(): number {
  collectGarbage();
  return taken();
}

function taken(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
