import { describe, expect, test } from 'vitest';
import { fullStock } from '../e2e/fixtures.ts';
import { spreadOf } from './harness/in-turns.ts';
import { noteResult, table, whole } from './harness/results.ts';
import { numberFrom, useBench } from './harness/servers.ts';
import { callOver, percentilesOf, runLoad } from './load.ts';

const ALLOWANCE = numberFrom('BENCH_ALLOWANCE', 100_000);
const CONNECTIONS = 256;
const LONGEST_MS = 60_000;
const WARM_UP_MS = 2_000;
/** A phase ends when this share of the allowance is left. */
const PHASES = [0.2, 0.05, 0.01, 0];
const MOVED_AT = 0.18;
/** The least share of the rate far from the limit. Near the limit, grants are small, so more of them are needed. */
const GOAL = { goal: 0.5, baseline: 'the same callers with more than a fifth of the allowance left' };
const COUNTERS = [
  ['metering', 'metering_acquires_total'],
  ['metering', 'metering_recalls_total'],
  ['metering', 'metering_reports_total'],
  ['gateway', 'gateway_quota_waited_calls_total'],
] as const;

interface Answer {
  status: number;
  atMs: number;
  tookMs: number;
  /** The share of the allowance that was left before this answer. */
  left: number;
}

/** Makes calls over many connections until each connection gets a 429. `targetOf` names the gateway of a connection's next call. */
async function driveToTheEnd(
  path: string,
  targetOf: (connection: number, left: number) => string,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const endAt = performance.now() + LONGEST_MS;
  let counted = 0;
  const left = () => 1 - counted / ALLOWANCE;
  const drive = async (_: unknown, connection: number): Promise<void> => {
    let isOver = false;
    while (!isOver && performance.now() < endAt) {
      const target = targetOf(connection, left());
      await callOver(target, {
        next: () => {
          const goesOn = !isOver && performance.now() < endAt && targetOf(connection, left()) === target;
          return goesOn ? path : undefined;
        },
        answered: (status, tookMs) => {
          answers.push({ status, atMs: performance.now(), tookMs, left: left() });
          if (status === 200) counted += 1;
          if (status === 429) isOver = true;
        },
      });
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, drive));
  return answers;
}

/** One row for each phase and one for the answers after the last counted one, and the rates of the phases. */
function report(answers: readonly Answer[]): { rows: string[][]; rates: number[] } {
  const last = answers.findLastIndex(({ status }) => status === 200);
  const rates: number[] = [];
  let beganMs = (answers[0]?.atMs ?? 0) - (answers[0]?.tookMs ?? 0);
  const rowOf = (name: string, part: readonly Answer[]): string[] => {
    const endMs = part.at(-1)?.atMs ?? beganMs;
    const rate = part.filter(({ status }) => status === 200).length / ((endMs - beganMs) / 1_000);
    rates.push(rate);
    beganMs = endMs;
    const { p50, p99 } = percentilesOf(part.map(({ tookMs }) => tookMs));
    const longest = part.reduce((most, { tookMs }) => Math.max(most, tookMs), 0);
    const statuses = [...Map.groupBy(part, ({ status }) => status)];
    return [
      name,
      whole(rate),
      (rate / (rates[0] ?? 1)).toFixed(2),
      ...[p50, p99, longest].map((ms) => ms.toFixed(1)),
      statuses.map(([status, { length }]) => `${length} × ${status}`).join(', '),
    ];
  };
  const rows = PHASES.map((to, index) => {
    const from = PHASES[index - 1] ?? 1;
    const phase = answers.slice(0, last + 1).filter(({ left }) => left <= from && left > to);
    return rowOf(`${from * 100}–${to * 100} %`, phase);
  });
  const phases = [...rates];
  rows.push(rowOf('after the last counted answer', answers.slice(last + 1)));
  return { rows, rates: phases };
}

describe.each([2, 5])('%i gateways', (gateways) => {
  const bench = useBench({ gateways, replicas: { metering: 2 } }, async ({ operator, stack }) => {
    await operator.putBrands([fullStock]);
    const { token } = await operator.newAccount(100_000_000);
    const paths = [`/v1/brands/ZPHX?token=${token}`];
    const connections = Math.ceil(CONNECTIONS / gateways);
    for (const { url } of stack.gateways) await runLoad(url, { paths, connections, forMs: WARM_UP_MS });
  });

  /** Returns each counter, as the sum over the processes of its service. */
  const counters = (): Promise<number[]> => {
    const names = [...bench.stack.opsUrls.keys()];
    const sumOf = ([service, name]: (typeof COUNTERS)[number]) => {
      const processes = names.filter((process) => process.startsWith(service));
      return bench.stack.metric(processes, name);
    };
    return Promise.all(COUNTERS.map(sumOf));
  };

  test.each([
    ['callers of all gateways', (urls: string[], connection: number) => urls[connection % urls.length]],
    [
      'callers of one gateway, which move to another with 18 % left',
      (urls: string[], _connection: number, left: number) => urls[left > MOVED_AT ? 0 : 1],
    ],
  ])(
    '%s get all of an allowance, and then 429',
    async (name, targetOf) => {
      const { operator, stack, lines } = bench;
      const { accountId, token } = await operator.newAccount(ALLOWANCE);
      const urls = stack.gateways.map(({ url }) => url);
      const before = await counters();
      const answers = await driveToTheEnd(
        `/v1/brands/ZPHX?token=${token}`,
        (connection, left) => targetOf(urls, connection, left) ?? '',
      );
      const more = (await counters()).map((count, index) => count - (before[index] ?? 0));
      const { rows, rates } = report(answers);
      const billed = (await operator.usage(accountId))[0]?.used;
      lines.push(
        `${gateways} gateways, ${name}`,
        table(['left', 'calls/s', 'of the first', 'p50 ms', 'p99 ms', 'longest', 'by status'], rows),
        `  ${COUNTERS.map(([, counter], index) => `${counter} ${more[index]}`).join(', ')}; billed ${billed} of ${ALLOWANCE}`,
      );
      expect(billed).toBe(ALLOWANCE);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(ALLOWANCE);
      // The slowest phase counts: a median would hide that the last permits take long.
      const [first = 0, ...later] = rates;
      const ratios = later.map((rate) => rate / first);
      noteResult(
        `limit, ${gateways} gateways, ${name}`,
        { ...spreadOf(ratios), median: Math.min(...ratios) },
        GOAL,
      );
    },
    LONGEST_MS + 30_000,
  );
});
