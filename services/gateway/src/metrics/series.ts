import { Counter, type Gauge, type Registry } from 'prom-client';

interface MetricText {
  name: string;
  help: string;
}

/**
 * Registers a counter with one label, and returns the function that counts an event. Its series start at zero: without them
 * Prometheus would not see the first event as an increase.
 */
export function countBy<Value extends string>(
  metrics: Registry,
  { label, values, ...text }: MetricText & { label: string; values: readonly Value[] },
): (value: Value) => void {
  const counter = new Counter({ ...text, labelNames: [label], registers: [metrics] });
  for (const value of values) counter.inc({ [label]: value }, 0);
  return (value) => counter.inc({ [label]: value });
}

/** Registers a counter or a gauge whose values are read at each scrape. */
export function readAtScrape(
  Metric: typeof Counter | typeof Gauge,
  metrics: Registry,
  { labelNames = [], ...text }: MetricText & { labelNames?: string[] },
  read: () => Iterable<readonly [labels: Record<string, string | number>, value: number]>,
): void {
  new Metric({
    ...text,
    labelNames,
    registers: [metrics],
    collect(this: Counter | Gauge) {
      this.reset();
      for (const [labels, value] of read()) this.inc(labels, value);
    },
  });
}
