import { batchWaitMs, type Population, simulateScale } from './scale.ts';

/** Prints the load on metering and on NATS for growing numbers of gateways and accounts. */
const CASES: Population[] = [
  ...[2, 20, 50, 100, 200].map((gateways) => ({
    gateways,
    accounts: 100_000,
    callsPerSecond: 2_500 * gateways,
    gatewaysPerAccount: gateways,
  })),
  ...[20, 50, 100, 200].map((gateways) => ({
    gateways,
    accounts: 100_000,
    callsPerSecond: 2_500 * gateways,
    gatewaysPerAccount: 2,
  })),
  ...[1_000, 10_000, 1_000_000].flatMap((accounts) =>
    [200, 2].map((gatewaysPerAccount) => ({
      gateways: 200,
      accounts,
      callsPerSecond: 500_000,
      gatewaysPerAccount,
    })),
  ),
];

const columns = [
  'gateways',
  'accounts',
  'calls/s',
  'spread',
  'Acquires/s',
  'of calls',
  'closes/s',
  'calls that waited',
  'publishes/s',
  'streams',
  'batch wait',
];
const whole = (value: number) => Math.round(value).toLocaleString('en');
const share = (value: number) => `${(value * 100).toPrecision(2)} %`;

process.stdout.write(`| ${columns.join(' | ')} |\n|${columns.map(() => '---').join('|')}|\n`);
for (const population of CASES) {
  const { gateways, accounts, callsPerSecond, gatewaysPerAccount } = population;
  const result = simulateScale(population, seeded(1));
  const cells = [
    whole(gateways),
    whole(accounts),
    whole(callsPerSecond),
    gatewaysPerAccount === gateways ? 'even' : `hashed to ${gatewaysPerAccount}`,
    whole(result.acquires),
    share(result.acquireShare),
    whole(result.closes),
    share(result.waitedShare),
    whole(result.publishesWanted),
    whole(result.streams),
    `${result.batchWaitMs.toFixed(1)} ms`,
  ];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

const STREAMS = [1, 4, 16];
process.stdout.write(`\n| gateways | ${STREAMS.map((count) => `USAGE_STREAMS=${count}`).join(' | ')} |\n`);
process.stdout.write(`|${[0, ...STREAMS].map(() => '---').join('|')}|\n`);
for (const gateways of [2, 20, 50, 200]) {
  const waits = STREAMS.map((streams) => `${whole(batchWaitMs(gateways, streams))} ms`);
  process.stdout.write(`| ${[whole(gateways), ...waits].join(' | ')} |\n`);
}

/** Mulberry32, so that every run gives the same figures. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
