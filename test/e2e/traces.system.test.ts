import { createToken } from '@brand-data/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { type CollectedSpan, type Collector, startCollector } from './collector.ts';
import { fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

const CALLERS_TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLERS_SPAN = 'b7ad6b7169203331';

let collector: Collector;
let stack: TestStack;
let operator: TestOperator;
let url: string;

beforeAll(async () => {
  collector = await startCollector();
  stack = await startTestStack({
    gateways: 1,
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      TRACE_TRUSTED_CALLERS: '127.0.0.1,::1',
      LOG_LEVEL: 'debug',
    },
  });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
  url = stack.gateways[0]?.url ?? '';
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
  await collector?.stop();
});

const spansOfTrace = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);
const has = (spans: CollectedSpan[], service: string, name: string) =>
  spans.some((span) => span.service === service && span.name === name);

test('a request for an image and its look-up in the database are one trace, without the URL', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const image = stack.images[0]?.url ?? '';
  const response = await fetch(`${image}/logos/${'ab'.repeat(16)}.svg?size=64`, {
    headers: { traceparent: `00-${traceId}-${CALLERS_SPAN}-01` },
  });
  expect(response.status).toBe(404);
  const names = () => spansOfTrace(traceId).map(({ service, name }) => `${service}: ${name}`);
  await expect.poll(() => names().toSorted()).toEqual(['images: GET image', 'images: mongodb find']);
  expect(JSON.stringify(spansOfTrace(traceId))).not.toMatch(/abab|size=64/);
});

test('one call makes one trace, from the HTTP request through gRPC, NATS and MongoDB, without token and URL', async () => {
  const { token } = await operator.newAccount(1_000);
  const response = await fetch(`${url}/v1/brands/ZPHX?token=${token}&marker=of-the-query`, {
    headers: { traceparent: `00-${CALLERS_TRACE}-${CALLERS_SPAN}-01` },
  });
  expect(response.status).toBe(200);

  const expected = [
    ['gateway', 'GET /v1/brands/{identifier}'],
    ['gateway', 'brand_data.v1.AccountsService/VerifyToken'],
    ['accounts', 'brand_data.v1.AccountsService/VerifyToken'],
    ['accounts', 'mongodb aggregate'],
    ['gateway', 'brand_data.v1.CatalogService/Lookup'],
    ['catalog', 'brand_data.v1.CatalogService/Lookup'],
    ['catalog', 'mongodb find'],
    ['gateway', 'brand_data.v1.MeteringService/Acquire'],
    ['metering', 'brand_data.v1.MeteringService/Acquire'],
    ['gateway', 'publish usage'],
    ['metering', 'apply usage'],
    ['metering', 'mongodb update'],
  ] as const;
  await expect
    .poll(() => expected.filter(([service, name]) => !has(spansOfTrace(CALLERS_TRACE), service, name)))
    .toEqual([]);

  const spans = spansOfTrace(CALLERS_TRACE);
  const ids = new Set([CALLERS_SPAN, ...spans.map(({ spanId }) => spanId)]);
  expect(spans.filter(({ parentSpanId }) => !ids.has(parentSpanId ?? ''))).toEqual([]);
  const root = spans.find(({ parentSpanId }) => parentSpanId === CALLERS_SPAN);
  expect(root?.attributes).toMatchObject({
    'http.route': '/v1/brands/{identifier}',
    'http.response.status_code': 200,
    'http.response.header.x-request-id': response.headers.get('x-request-id'),
  });

  expect(collector.received()).not.toContain(token);
  expect(collector.received()).not.toContain('of-the-query');
  expect(collector.received()).not.toContain('ZPHX');
  for (const name of ['gateway-1', 'accounts', 'catalog', 'metering'])
    expect(await stack.logs(name)).not.toContain(token);
});

test('the spans of a shared look-up and of a shared batch of usage link to all calls in them', async () => {
  const { token } = await operator.newAccount(1_000);
  const gateway = callerOf({ url });
  const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.brand('ZPHX', token)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await expect
    .poll(() => collector.spans.some(({ name, links }) => name === 'record usage' && links.length > 0))
    .toBe(true);
});

test('a call whose caller disables tracing has no trace in any service', async () => {
  const { token } = await operator.newAccount(1_000);
  const unwanted = CALLERS_TRACE.replace('0af', 'fff');
  const headers = { traceparent: `00-${unwanted}-${CALLERS_SPAN}-00` };
  expect((await fetch(`${url}/v1/brands/ZPHX?token=${token}`, { headers })).status).toBe(200);
  const wanted = CALLERS_TRACE.replace('0af', 'eee');
  await fetch(`${url}/v1/brands/ZPHX?token=${token}`, {
    headers: { traceparent: `00-${wanted}-${CALLERS_SPAN}-01` },
  });
  await expect.poll(() => has(spansOfTrace(wanted), 'metering', 'apply usage')).toBe(true);
  expect(spansOfTrace(unwanted)).toEqual([]);
});

test('log lines of a call contain its trace id and its request id', async () => {
  const traceId = CALLERS_TRACE.replace('0af', 'ddd');
  await stack.kill('accounts');
  const response = await fetch(`${url}/v1/brands/ZPHX?token=${createToken()}`, {
    headers: { traceparent: `00-${traceId}-${CALLERS_SPAN}-01` },
  });
  expect(response.status).toBe(503);
  await stack.restart('accounts');
  const lines = (await stack.logs('gateway-1')).split('\n').filter((line) => line.startsWith('{'));
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({
      trace_id: traceId,
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      requestId: response.headers.get('x-request-id'),
    }),
  );
});
