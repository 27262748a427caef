import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { countAnswers } from '../src/http/answer-counts.ts';

const NAME = 'gateway_http_request_duration_seconds';
const HELP = 'Seconds from a request to its answer, by route and status';

const answer = fc.record({
  route: fc.constantFrom('brands', 'logos'),
  status: fc.constantFrom(200, 404, 503),
  tookMs: fc.oneof(
    fc.double({ min: 0, max: 10_000, noNaN: true }),
    fc.constantFrom(0, 1, 2.5, 5, 10, 5_000, 5_000.1),
  ),
});

test('scrapes read the times of answers as from a histogram of the metrics library', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { maxLength: 50 }), async (answers) => {
      const [own, librarys] = [new Registry(), new Registry()];
      for (const registry of [own, librarys]) registry.setDefaultLabels({ service: 'gateway' });
      const counts = countAnswers({ metrics: own });
      const histogram = new Histogram({
        name: NAME,
        help: HELP,
        labelNames: ['route', 'status'],
        registers: [librarys],
        buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      });
      for (const { route, status, tookMs } of answers) {
        counts.add(route, status, tookMs);
        histogram.observe({ route, status }, tookMs / 1_000);
      }
      counts.add('none', 400);
      /** With the labels of each series in one order: theirs means nothing. */
      const lines = async (registry: Registry) =>
        (await registry.getSingleMetricAsString(NAME))
          .replaceAll(/(?<=\{).*(?=\} )/g, (labels) => labels.split(',').toSorted().join())
          .split('\n')
          .toSorted();
      expect(await lines(own)).toEqual(await lines(librarys));
    }),
  );
});

test('the counter also counts answers without a time, and starts at zero for the failures of each route', async () => {
  const metrics = new Registry();
  const counts = countAnswers({ metrics });
  counts.add('none', 400);
  counts.add('brands', 200, 1);
  counts.add('brands', 200, 2);
  const counted = await metrics.getSingleMetricAsString('gateway_http_requests_total');
  const series = (route: string, status: number, answers: number) =>
    `gateway_http_requests_total{route="${route}",status="${status}"} ${answers}`;
  expect(counted).toContain(series('none', 400, 1));
  expect(counted).toContain(series('brands', 200, 2));
  for (const route of ['brands', 'logos', 'search', 'usage'])
    for (const status of [500, 503]) expect(counted).toContain(series(route, status, 0));
});
