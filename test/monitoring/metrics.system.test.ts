import { createToken } from '@brand-data/contracts';
import { readExposition, type ServedMetric, scrape } from '@brand-data/testing/exposition';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callerOf } from '../e2e/caller.ts';
import { fullStock } from '../e2e/fixtures.ts';
import { TestOperator } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { readMetricsPage } from './metrics-page.ts';
import { promtool, runPromtool } from './tools.ts';

const SERVICES = ['gateway', 'accounts', 'catalog', 'metering', 'images'];
const PREFIX = /^(brand_data|gateway|accounts|catalog|metering|images|grpc|nats|mongodb|process|nodejs)_/;
/** The names of histograms of numbers of things, which have no unit in their names. */
const COUNTED = /_(calls|messages|queries)$/;
/** More than the gRPC methods of all services. */
const MOST_VALUES = 100;
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#06c" d="M2 2h20v20H2z"/></svg>';

let stack: TestStack;
let operator: TestOperator;
const identifiers = Array.from({ length: 60 }, (_, index) => `nobody-${index}.example`);
const secrets: string[] = [];

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1 });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
  await callAs(10);
  await fetchImages();
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

/** Calls of all kinds, each with its own account and token. */
async function callAs(accounts: number): Promise<void> {
  const [gateway] = stack.gateways;
  if (!gateway) throw new Error('a gateway is needed');
  const { brand, logo } = callerOf(gateway);
  // An answer about usage may wait for half a second, so the next calls do not wait for it.
  const aboutUsage: Promise<Response>[] = [];
  for (let number = 0; number < accounts; number++) {
    const { accountId, keyId, plan, token } = await operator.newAccount(3);
    const unknown = createToken();
    secrets.push(accountId, keyId, plan, token, unknown);
    const own = identifiers.slice(number, number + 2);
    for (const identifier of ['ZPHX', ...own, 'ZPHX']) await brand(identifier, token);
    await logo('ZPHX', token);
    await brand('ZPHX', unknown);
    await brand('ZPHX', null);
    aboutUsage.push(fetch(`${gateway.url}/v1/usage?token=${token}`));
    for (const path of ['', '/docs/errors', `/${token}/${number}`]) await fetch(`${gateway.url}${path}`);
  }
  await Promise.all(aboutUsage);
}

/** Requests of all kinds for images. */
async function fetchImages(): Promise<void> {
  const path = await operator.putLogo(Buffer.from(LOGO));
  const urls = [
    path,
    `${path}?size=32&format=png`,
    `${path}?size=33`,
    'logos/none.svg',
    `logos/${'0'.repeat(32)}.svg`,
  ];
  for (const url of urls) await (await fetch(`${stack.images[0]?.url}/${url}`)).arrayBuffer();
}

async function serve(): Promise<Map<string, { text: string; metrics: ServedMetric[] }>> {
  const served = [...stack.opsUrls].map(async ([name, url]) => {
    const text = await scrape(url);
    return [name, { text, metrics: readExposition(text) }] as const;
  });
  return new Map(await Promise.all(served));
}

async function allMetrics(): Promise<ServedMetric[]> {
  return [...(await serve()).values()].flatMap(({ metrics }) => metrics);
}

test('the page of metrics lists every metric with its type and labels, and no other', async () => {
  const { own } = readMetricsPage();
  const metrics = await allMetrics();
  expect(own.map(({ name }) => name).sort()).toEqual([...new Set(metrics.map(({ name }) => name))].sort());
  const listed = new Map(own.map((metric) => [metric.name, metric]));
  for (const { name, type, samples } of metrics) {
    expect([name, listed.get(name)?.type]).toEqual([name, type]);
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    const known = ['service', ...(type === 'histogram' ? ['le'] : []), ...(listed.get(name)?.labels ?? [])];
    expect([name, [...labels].filter((label) => !known.includes(label))]).toEqual([name, []]);
  }
});

test('names and units are those that Prometheus advises, and begin as the page says', async () => {
  for (const { name, type, help } of await allMetrics()) {
    expect(name).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    expect(name).toMatch(PREFIX);
    expect(help.length, name).toBeGreaterThan(5);
    expect(name, 'base units').not.toMatch(/_(ms|millis|milliseconds|minutes|kilobytes|kb|percent)(_|$)/);
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    if (type === 'histogram' && !COUNTED.test(name)) expect(name).toMatch(/_(seconds|bytes)$/);
  }
});

test.skipIf(promtool === undefined)('promtool has no complaint about the metrics', async () => {
  for (const [service, { text }] of await serve())
    expect([service, runPromtool(['check', 'metrics'], text).output]).toEqual([service, '']);
});

test('gateways count as many charged calls as metering counts billed ones', async () => {
  const countOf = async (name: string, certainty?: string) => {
    const samples = (await allMetrics())
      .filter((metric) => metric.name === name)
      .flatMap((metric) => metric.samples);
    return samples
      .filter(({ labels }) => labels.certainty === certainty)
      .reduce((sum, { value }) => sum + value, 0);
  };
  const answered = await countOf('gateway_charged_calls_total', 'answered');
  expect(answered).toBeGreaterThan(0);
  expect(await countOf('gateway_charged_calls_total', 'unsure')).toBe(0);
  await expect.poll(() => countOf('metering_billed_calls_total')).toBe(answered);
});

test('every service reports its name and its build', async () => {
  const builds = (await allMetrics()).filter(({ name }) => name === 'brand_data_build_info');
  expect(builds.flatMap(({ samples }) => samples.map(({ labels }) => labels.service)).sort()).toEqual(
    SERVICES.toSorted(),
  );
});

test('more callers and identifiers add no series, and no label holds a token, an account or an identifier', async () => {
  // Series of open handles and of repeated requests come and go on a slow machine, so only their label values are checked.
  const seriesOf = (metrics: ServedMetric[]) =>
    metrics
      .filter(({ name }) => !/^(nodejs|grpc)_/.test(name))
      .flatMap(({ samples }) => samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`))
      .sort();
  const before = seriesOf(await allMetrics());
  await callAs(30);
  await fetchImages();
  const metrics = await allMetrics();
  expect(seriesOf(metrics)).toEqual(before);

  const values = new Map<string, Set<string>>();
  for (const { name, samples } of metrics)
    for (const { labels } of samples)
      for (const [label, value] of Object.entries(labels)) {
        const key = `${name} ${label}`;
        values.set(key, (values.get(key) ?? new Set()).add(value));
      }
  for (const [key, known] of values) expect([key, known.size <= MOST_VALUES]).toEqual([key, true]);
  const shown = new Set([...values.values()].flatMap((known) => [...known]));
  expect([...secrets, ...identifiers, 'ZPHX'].filter((secret) => shown.has(secret))).toEqual([]);
});
