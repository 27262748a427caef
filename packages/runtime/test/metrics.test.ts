import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { gaugesAtScrape, readAtScrape, type Sample } from '../src/observe/metrics.ts';

test.for([[], ['state']])(
  'a gauge with the labels %j has the series that were read at the scrape, and no others',
  async (labelNames) => {
    const metrics = new Registry();
    let read: () => Promise<Sample[]> = async () => [];
    const labels = Object.fromEntries(labelNames.map((name) => [name, 'one']));
    gaugesAtScrape(metrics, () => read(), [
      { name: 'slow', help: 'Read from a server', labelNames, samplesOf: (samples) => samples },
    ]);
    readAtScrape(Gauge, metrics, { name: 'quick', help: 'Read here', labelNames }, () => read());
    const series = async () => {
      const all = await metrics.getMetricsAsJSON();
      return all.map(({ values }) => values.map(({ labels: of, value }) => [of, value]));
    };
    expect(await series()).toEqual([[], []]);
    read = async () => [[labels, 7]];
    expect(await series()).toEqual([[[labels, 7]], [[labels, 7]]]);
    read = async () => [];
    expect(await series()).toEqual([[], []]);
  },
);

test('gauges are absent while what they are read from does not answer', async () => {
  const metrics = new Registry();
  let answers = true;
  const read = () => (answers ? Promise.resolve(7) : Promise.reject(new Error('no answer')));
  gaugesAtScrape(metrics, read, [{ name: 'facts', help: 'Facts', samplesOf: (facts) => [[{}, facts]] }]);
  const values = async () => (await metrics.getMetricsAsJSON()).flatMap((metric) => metric.values);
  expect(await values()).toMatchObject([{ value: 7 }]);
  answers = false;
  expect(await values()).toEqual([]);
});
