import type { Counter, Gauge, Registry } from 'prom-client';

/** Registers a counter or a gauge whose values are read at each scrape. */
export function readAtScrape(
  Metric: typeof Counter | typeof Gauge,
  metrics: Registry,
  { labelNames = [], ...text }: { name: string; help: string; labelNames?: string[] },
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
