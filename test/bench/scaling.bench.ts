import { readFileSync } from 'node:fs';
import { createRandom } from '@brand-data/testing/random';
import { afterAll, expect, test } from 'vitest';
import { fullStock } from '../e2e/fixtures.ts';
import { operatorOf } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { createTokens } from './harness/account-tokens.ts';
import { spreadOf } from './harness/in-turns.ts';
import { numberFrom } from './harness/number-from.ts';
import { shown } from './harness/results.ts';
import { metricAt } from './harness/servers.ts';
import { runLoad } from './load.ts';

const ACCOUNTS = numberFrom('BENCH_ACCOUNTS', 1_000);
const CONNECTIONS = 256;
const MEET_WITHIN_MS = 60_000;
const WARM_UP_MS = 4_000;
const ROUND_MS = 3_000;
const ROUNDS = 5;
/** Linux counts the processor time of a process in ticks of this length. */
const TICK_MICROS = 10_000;
const BEHIND = ['metering', 'accounts', 'catalog', 'nats-server', 'mongod'] as const;

interface Round {
  callsPerSecond: number;
  /** Processor time a call, in microseconds: of all gateways together, and of each process of BEHIND. */
  gateways: number;
  micros: number[];
  acquires: number;
  callsInMessage: number;
}

const lines: string[] = [];

afterAll(() => console.log(lines.join('\n')));

/** Processor time of a process so far, in microseconds. nats-server and mongod tell it in no metric. */
function cpuMicrosOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name of the program, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
}

/**
 * Loads all gateways at once, each with an equal part of the connections. The accounts come in random order, so that their grants
 * are not used up all in the same moment.
 */
async function loadAll({ gateways }: TestStack, all: readonly string[], forMs: number): Promise<number> {
  const random = createRandom(gateways.length);
  const paths = () => all[random.whole(0, all.length - 1)] ?? '';
  const connections = Math.floor(CONNECTIONS / gateways.length);
  const results = await Promise.all(gateways.map(({ url }) => runLoad(url, { paths, connections, forMs })));
  for (const { byStatus } of results) expect([...byStatus.keys()]).toEqual([200]);
  return results.reduce((calls, result) => calls + result.calls, 0);
}

test.each([1, 2, 4])(
  'what a call costs each process with %i gateways',
  async (count) => {
    const stack = await startTestStack({ gateways: count, ownMongod: true });
    const operator = operatorOf(stack);
    try {
      await operator.putBrands([fullStock]);
      const paths = (await createTokens(operator, ACCOUNTS)).map((token) => `/v1/brands/ZPHX?token=${token}`);
      const names = stack.gateways.map(({ name }) => name);
      const of = async (metric: string) => {
        const figures = names.map((name) => metricAt(stack.opsUrls.get(name) ?? '', metric));
        return (await Promise.all(figures)).reduce((sum, figure) => sum + figure, 0);
      };
      const state = async () => ({
        gateways: names.reduce((sum, name) => sum + cpuMicrosOf(stack.pid(name)), 0),
        behind: BEHIND.map((name) => cpuMicrosOf(stack.pid(name))),
        acquires: await of('gateway_quota_acquires_total'),
        messages: await of('gateway_usage_batch_calls_count'),
      });
      // Every gateway has to know every token and hold a grant of every account.
      for (const { url } of stack.gateways)
        await runLoad(url, { paths, connections: 32, forMs: MEET_WITHIN_MS, calls: paths.length });
      await loadAll(stack, paths, WARM_UP_MS);
      const rounds: Round[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const before = await state();
        const calls = await loadAll(stack, paths, ROUND_MS);
        const after = await state();
        const micros = after.behind.map((figure, index) => (figure - (before.behind[index] ?? 0)) / calls);
        rounds.push({
          callsPerSecond: calls / (ROUND_MS / 1_000),
          gateways: (after.gateways - before.gateways) / calls,
          micros,
          acquires: (after.acquires - before.acquires) / calls,
          callsInMessage: calls / (after.messages - before.messages),
        });
      }
      const over = (digits: number, figure: (round: Round) => number) =>
        shown(digits, spreadOf(rounds.map(figure)));
      lines.push(
        `${count} gateways, ${ACCOUNTS} accounts: ${over(0, (round) => round.callsPerSecond)} calls/s; µs of processor time a call: ` +
          `gateways ${over(1, (round) => round.gateways)}, ` +
          BEHIND.map((name, index) => `${name} ${over(1, ({ micros }) => micros[index] ?? 0)}`).join(', ') +
          `; ${over(0, (round) => round.callsInMessage)} calls in a message, ${over(4, (round) => round.acquires)} Acquires a call`,
      );
    } finally {
      operator.close();
      await stack.stop();
    }
  },
  300_000,
);
