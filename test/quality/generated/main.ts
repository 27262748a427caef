import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { decoders, importers, publicApi, randomFrom, type Target } from './inputs.ts';

const USAGE = `Usage: npm run generated -- [--inputs 1000000] [--seed 1]

Gives generated inputs to the public API, to the decoders of gRPC and NATS, and to the importers, a third each. Ends with an error
at the first 5xx or crash, and if memory has grown by more than 32 MiB since the first tenth.`;

const MIB = 1 << 20;
const MOST_GROWTH = 32 * MIB;

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const folder = await mkdtemp(join(tmpdir(), 'brand-data-generated-'));
try {
  for (const [name, start] of [
    ['public API', publicApi],
    ['decoders', decoders],
    ['importers', () => importers(folder)],
  ] as const)
    await run(name, await start());
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function run(name: string, target: Target): Promise<void> {
  await using given = target;
  const random = randomFrom(Number(values.seed));
  const most = Number(values.inputs) / 3;
  let count = 0;
  let before: number | undefined;
  for (; count < most; count += given.inputs) {
    if (before === undefined && count >= most / 10) before = memory();
    await given.try(random);
  }
  const growth = memory() - (before ?? 0);
  console.log(`${name}: ${count} inputs, memory grew by ${(growth / MIB).toFixed(1)} MiB`);
  if (growth > MOST_GROWTH) throw new Error(`the memory of ${name} grows`);
}

function memory(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
