import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ruleFiles } from './promql.ts';
import { type Life, STEP_SECONDS, scrapedCounters, type Traffic } from './scraped-counters.ts';
import { promtool, runPromtool } from './tools.ts';

const MINUTE = 60;
const SECONDS = 80 * MINUTE;
/** The second at which the disturbance happens. The rules look back over the half hour before it. */
const AT = 40 * MINUTE;

const process = (name: string, phase: number, from = -SECONDS, to = Number.POSITIVE_INFINITY): Life => ({
  name,
  phase,
  from,
  to,
});
const restarted = (name: string, phase: number, at: number, downFor = 10): Life[] => [
  process(`${name}-old`, phase, -SECONDS, at),
  process(`${name}-new`, (phase + 10) % 30, at + downFor),
];

const GATEWAYS = [process('g1', 0), process('g2', 10), process('g3', 25)];
const METERINGS = [process('m1', 5), process('m2', 20)];

/** About this many calls a second. The result for a given second is always the same. */
const about = (mean: number) => (second: number) => {
  const noise = ((Math.imul(second + 1, 2_654_435_761) >>> 8) % 1000) / 1000;
  return Math.round(mean + Math.sqrt(3 * mean) * (2 * noise - 1));
};
const steady = (calls: number): Traffic => ({
  callsAt: about(calls),
  gateways: GATEWAYS,
  meterings: METERINGS,
  seconds: SECONDS,
});

const QUIET: Record<string, Traffic> = {
  'ten calls a second': steady(10),
  'a thousand calls a second': steady(1_000),
  'a call now and then': { ...steady(0), callsAt: (second) => (second % 97 === 0 ? 1 : 0) },
  'a thousand calls a second for ten minutes, and ten a second at other times': {
    ...steady(10),
    callsAt: (second) => about(second >= AT && second < AT + 10 * MINUTE ? 1_000 : 10)(second),
  },
  'traffic that ends at once': { ...steady(0), callsAt: (second) => (second < AT ? about(500)(second) : 0) },
  'a rolling restart of all gateways, then of metering': {
    ...steady(100),
    gateways: ['g1', 'g2', 'g3'].flatMap((name, index) => restarted(name, 5 * index, AT + 20 * index)),
    meterings: ['m1', 'm2'].flatMap((name, index) =>
      restarted(name, 5 + 15 * index, AT + 2 * MINUTE + 20 * index),
    ),
  },
  'a gateway that is killed': {
    ...steady(10),
    gateways: [...restarted('g1', 5, AT + 4, 60), ...GATEWAYS.slice(1)],
    // Metering can still read the killed gateway's last usage, because it is in the stream.
    lateAt: (second) => (second >= AT && second < AT + 10 ? 5 : 1),
  },
  'a metering replica that is killed just before Prometheus reads it': {
    ...steady(10),
    meterings: [...restarted('m1', 5, AT + 4), ...METERINGS.slice(1)],
    lateAt: (second) => (second >= AT && second < AT + 10 ? 5 : 1),
  },
  'metering loses a replica by scaling': {
    ...steady(100),
    meterings: [process('m1', 5, -SECONDS, AT + 4), ...METERINGS.slice(1)],
  },
  'NATS down for 30 s: gateways report usage directly, and usage in the stream is billed once NATS is back': {
    ...steady(10),
    callsAt: (second) => (second >= AT && second < AT + 2 ? 3 : about(10)(second)),
    lateAt: (second) => (second >= AT - 1 && second < AT + 1 ? 35 : 1),
  },
  // Metering adds to its metric only what the database has confirmed as stored. After an election, about one batch is missing.
  'an election, after which the metric lacks 0.7 s of a thousand calls a second': {
    ...steady(1_000),
    lostAt: (second) => (second === AT ? 700 : 0),
  },
  'an election, with few calls': { ...steady(1), lostAt: (second) => (second === AT ? 15 : 0) },
  'a database without a primary for a minute and a half': {
    ...steady(100),
    lateAt: (second) => (second >= AT && second < AT + 90 ? AT + 92 - second : 1),
  },
};

/** What is lost, and the time by which the alert must fire. */
const LOUD: Record<string, { traffic: Traffic; firesBy: number }> = {
  '100 answers at ten calls a second': {
    traffic: { ...steady(10), lostAt: (second) => (second >= AT && second < AT + 10 ? 10 : 0) },
    firesBy: AT + 10 + 4 * MINUTE,
  },
  'every hundredth answer': {
    traffic: { ...steady(1_000), lostAt: (second) => (second >= AT ? 10 : 0) },
    firesBy: AT + 10 * MINUTE,
  },
  'two minutes of all answers, in which metering was restarted': {
    traffic: {
      ...steady(100),
      lostAt: (second) => (second >= AT && second < AT + 120 ? about(100)(second) : 0),
      meterings: [...restarted('m1', 5, AT + 4), ...METERINGS.slice(1)],
    },
    firesBy: AT + 120 + 4 * MINUTE,
  },
};

const FIRING = 'ALERTS{alertname="BrandDataAnswersNotBilled",alertstate="firing"}';

/** Checks with promtool whether the alert had ever fired up to the given times. */
function check(traffic: Traffic, expected: readonly { upTo: number; everFired: boolean }[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'unbilled-'));
  const series = { ...scrapedCounters(traffic), ...builds };
  try {
    const file = join(folder, 'test.yaml');
    writeFileSync(
      file,
      stringify({
        rule_files: ruleFiles(),
        evaluation_interval: '1m',
        tests: [
          {
            interval: `${STEP_SECONDS}s`,
            input_series: Object.entries(series).map(([each, values]) => ({ series: each, values })),
            promql_expr_test: expected.map(({ upTo, everFired }) => ({
              expr: `count(count_over_time(${FIRING}[2h]))`,
              eval_time: `${upTo}s`,
              exp_samples: everFired ? [{ labels: '{}', value: 1 }] : [],
            })),
          },
        ],
      }),
    );
    const { isGood, output } = runPromtool(['test', 'rules', file]);
    expect(isGood, output).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const builds = Object.fromEntries(
  ['gateway', 'accounts', 'catalog', 'metering', 'images'].map((service) => [
    `brand_data_build_info{service="${service}",namespace="prod",instance="${service}"}`,
    `1x${SECONDS / STEP_SECONDS}`,
  ]),
);

describe.skipIf(promtool === undefined)('BrandDataAnswersNotBilled', () => {
  test.each(Object.entries(QUIET))('is never there for: %s', (_what, traffic) =>
    check(traffic, [{ upTo: SECONDS, everFired: false }]),
  );

  test.each(Object.entries(LOUD))(
    'tells, within a minute after the three that usage may be late: %s',
    (_what, { traffic, firesBy }) =>
      check(traffic, [
        { upTo: AT + 3 * MINUTE, everFired: false },
        { upTo: firesBy, everFired: true },
      ]),
  );
});
