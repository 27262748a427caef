import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fullStock } from '../e2e/fixtures.ts';
import { TestOperator } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { spreadOf } from './harness/in-turns.ts';
import { noteResult } from './harness/results.ts';
import { callOver, percentilesOf, runLoad } from './load.ts';

const ALLOWANCE = 100_000;
const CONNECTIONS = 256;
const LONGEST_MS = 60_000;
const WARM_UP_MS = 2_000;
/** A phase ends when this share of the allowance is left. */
const PHASES = [0.2, 0.05, 0.01, 0];
const MOVED_AT = 0.18;
/** The least share of the rate far from the limit. Near the limit, grants are small, so more of them are needed. */
const GOAL = 0.5;

interface Answer {
  status: number;
  atMs: number;
  tookMs: number;
  /** The number of counted answers before this one. */
  counted: number;
}

/**
 * Makes calls over many connections until each connection gets a 429. `targetOf` names the gateway of a connection's next call.
 */
async function driveToTheEnd(
  path: string,
  targetOf: (connection: number, left: number) => string,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const endAt = performance.now() + LONGEST_MS;
  let counted = 0;
  const left = () => 1 - counted / ALLOWANCE;
  const drive = async (connection: number): Promise<void> => {
    let isOver = false;
    while (!isOver && performance.now() < endAt) {
      const target = targetOf(connection, left());
      await callOver(target, {
        next: () => {
          const goesOn = !isOver && performance.now() < endAt && targetOf(connection, left()) === target;
          return goesOn ? path : undefined;
        },
        answered: (status, tookMs) => {
          answers.push({ status, atMs: performance.now(), tookMs, counted });
          if (status === 200) counted += 1;
          if (status === 429) isOver = true;
        },
      });
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => drive(connection)));
  return answers;
}

/** One line for each phase, with its counted answers, and the rates of the later phases, divided by that of the first. */
function report(name: string, answers: readonly Answer[]): { lines: string[]; ratios: number[] } {
  const last = answers.findLastIndex(({ status }) => status === 200);
  const lines = [
    name,
    '  left       calls/s  of the first  p50 ms   p99 ms   longest  503 with permits left  by status',
  ];
  const ratios: number[] = [];
  let first = 0;
  let from = 1;
  let beganMs = (answers[0]?.atMs ?? 0) - (answers[0]?.tookMs ?? 0);
  for (const to of PHASES) {
    const isWithin = ({ counted }: Answer) => 1 - counted / ALLOWANCE <= from && 1 - counted / ALLOWANCE > to;
    const phase = answers.slice(0, last + 1).filter(isWithin);
    const lasted = ((phase.at(-1)?.atMs ?? 0) - beganMs) / 1_000;
    const rate = phase.filter(({ status }) => status === 200).length / lasted;
    const took = phase.map(({ tookMs }) => tookMs);
    const { p50, p99 } = percentilesOf(took);
    const byStatus = Map.groupBy(phase, ({ status }) => status);
    if (first > 0) ratios.push(rate / first);
    first ||= rate;
    lines.push(
      [
        `  ${`${from * 100}–${to * 100} %`.padEnd(9)}`,
        Math.round(rate).toLocaleString('en').padStart(8),
        (rate / first).toFixed(2).padStart(13),
        ...[p50, p99, took.reduce((a, b) => Math.max(a, b), 0)].map((ms) => ms.toFixed(1).padStart(8)),
        String(byStatus.get(503)?.length ?? 0).padStart(22),
        ` ${[...byStatus].map(([status, { length }]) => `${length} × ${status}`).join(', ')}`,
      ].join(' '),
    );
    beganMs = phase.at(-1)?.atMs ?? beganMs;
    from = to;
  }
  const after = answers.slice(last + 1);
  const { p50, p99 } = percentilesOf(after.map(({ tookMs }) => tookMs));
  const statuses = [...Map.groupBy(after, ({ status }) => status)].map(
    ([status, { length }]) => `${length} × ${status}`,
  );
  lines.push(
    `  after the last counted answer: ${statuses.join(', ')}; p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`,
  );
  return { lines, ratios };
}

describe.each([2, 5])('%i gateways', (gateways) => {
  let stack: TestStack;
  let operator: TestOperator;

  beforeAll(async () => {
    stack = await startTestStack({ gateways, replicas: { metering: 2 } });
    operator = new TestOperator(stack);
    await operator.putBrands([fullStock]);
    const { token } = await operator.newAccount(100_000_000);
    const paths = [`/v1/brands/ZPHX?token=${token}`];
    const connections = Math.ceil(CONNECTIONS / gateways);
    for (const { url } of stack.gateways) await runLoad(url, { paths, connections, forMs: WARM_UP_MS });
  }, 120_000);

  afterAll(async () => {
    operator?.close();
    await stack?.stop();
  });

  /** Sums a metric over the processes of a service, for each value of its label `decision` or `outcome`. */
  const metric = async (service: string, name: string): Promise<Map<string, number>> => {
    const sums = new Map<string, number>();
    for (const [process, opsUrl] of stack.opsUrls) {
      if (!process.startsWith(service)) continue;
      const text = await (await fetch(`${opsUrl}/metrics`)).text();
      for (const [, labels = '', value] of text.matchAll(new RegExp(`^${name}({.*})? ([0-9.e+]+)$`, 'gm'))) {
        const label = /(?:decision|outcome)="(\w+)"/.exec(labels)?.[1] ?? '';
        sums.set(label, (sums.get(label) ?? 0) + Number(value));
      }
    }
    return sums;
  };

  /** Returns a line with the increase of each counter since the last call. */
  const counters = () => {
    const before = new Map<string, number>();
    const since = async (service: string, name: string): Promise<string> => {
      const counts = [...(await metric(service, name))].map(([label, count]) => {
        const more = count - (before.get(name + label) ?? 0);
        before.set(name + label, count);
        return [label, more] as const;
      });
      return counts
        .filter(([, more]) => more > 0)
        .map(([label, more]) => `${more} ${label}`.trim())
        .join(', ');
    };
    return async () =>
      `  Acquires: ${await since('metering', 'metering_acquires_total')}; ` +
      `recalls: ${(await since('metering', 'metering_recalls_total')) || 0}; ` +
      `reports: ${(await since('metering', 'metering_reports_total')) || 0}; ` +
      `calls that waited: ${(await since('gateway', 'gateway_quota_waited_calls_total')) || 0}`;
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
      const { accountId, token } = await operator.newAccount(ALLOWANCE);
      const urls = stack.gateways.map(({ url }) => url);
      const counted = counters();
      await counted();
      const answers = await driveToTheEnd(
        `/v1/brands/ZPHX?token=${token}`,
        (connection, left) => targetOf(urls, connection, left) ?? '',
      );
      const { lines, ratios } = report(`${gateways} gateways, ${name}`, answers);
      lines.push(await counted());
      const billed = async () => (await operator.usage(accountId))[0]?.used;
      lines.push(`  billed ${await billed()} of ${ALLOWANCE}`);
      console.log(lines.join('\n'));
      expect(await billed()).toBe(ALLOWANCE);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(ALLOWANCE);
      // The slowest phase counts: a median would hide that the last permits take long.
      const slowest = { ...spreadOf(ratios), median: Math.min(...ratios) };
      noteResult(`limit, ${gateways} gateways, ${name}`, slowest, {
        goal: GOAL,
        baseline: 'the same callers with more than a fifth of the allowance left',
      });
    },
    LONGEST_MS + 30_000,
  );
});
