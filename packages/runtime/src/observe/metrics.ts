import { setTimeout as delay } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export interface Build {
  version: string;
  revision: string;
}

/**
 * Gauges of the metrics library that our services do not serve. Their names end like the names of counters, so Prometheus' tools
 * warn about them. Gauges with a label for the type (`nodejs_active_handles` and so on) hold the same values.
 */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Creates a service's metrics, with those of its process. `deploy/metrics.md` describes each. */
export function createMetrics(service: string, build: Build): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  new Gauge({
    name: 'brand_data_build_info',
    help: 'The build that runs, in the labels; always 1',
    labelNames: ['version', 'revision', 'node'],
    registers: [registry],
  }).set({ ...build, node: process.versions.node }, 1);
  return registry;
}

/**
 * Registers a counter with one label, and returns the function that counts events. Its series start at zero: without them
 * Prometheus would not see the first event as an increase.
 */
export function countBy<Value extends string | number>(
  metrics: Registry,
  { label, values, ...text }: { name: string; help: string; label: string; values: readonly Value[] },
): (value: Value, events?: number) => void {
  const counter = new Counter({ ...text, labelNames: [label], registers: [metrics] });
  for (const value of values) counter.inc({ [label]: value }, 0);
  return (value, events = 1) => counter.inc({ [label]: value }, events);
}

/** The labels of a series, and its value. */
export type Sample = readonly [labels: Record<string, string | number>, value: number];

/** Registers a counter or a gauge whose series are read at each scrape. It has only the series that `read` returns. */
export function readAtScrape(
  Metric: typeof Counter | typeof Gauge,
  metrics: Registry,
  { labelNames = [], ...text }: { name: string; help: string; labelNames?: string[] },
  read: () => Iterable<Sample> | Promise<Iterable<Sample>>,
): void {
  new Metric({
    ...text,
    labelNames,
    registers: [metrics],
    async collect(this: Counter | Gauge) {
      const samples = await read();
      this.reset();
      // A reset leaves a metric without labels at 0.
      this.remove({});
      for (const [labels, value] of samples) this.inc(labels, value);
    },
  });
}

/** A scrape waits this long for what gauges read. */
const READ_WITHIN_MS = 1_000;

/** Registers gauges whose values come from one read at each scrape. They are absent if it does not answer in time. */
export function gaugesAtScrape<Facts>(
  metrics: Registry,
  read: () => Promise<Facts>,
  gauges: {
    name: string;
    help: string;
    labelNames?: string[];
    samplesOf: (facts: NonNullable<Facts>) => Iterable<Sample>;
  }[],
): void {
  let reading: Promise<Facts | undefined> | undefined;
  const shared = () => {
    reading ??= Promise.race([
      read().catch(() => undefined),
      delay(READ_WITHIN_MS, undefined, { ref: false }),
    ]).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  for (const { samplesOf, ...about } of gauges)
    readAtScrape(Gauge, metrics, about, async () => {
      const facts = await shared();
      return facts === undefined || facts === null ? [] : samplesOf(facts);
    });
}

/** Makes a value once for each registry, when it is first needed. All users of the registry share the value. */
export function perRegistry<T>(make: (registry: Registry) => T): (registry: Registry) => T {
  const made = new WeakMap<Registry, T>();
  return (registry) => {
    const value = made.get(registry) ?? make(registry);
    made.set(registry, value);
    return value;
  };
}
