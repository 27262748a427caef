import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** What a build calls itself; each may be unknown. */
export interface Build {
  version: string;
  revision: string;
}

/** Gauges that Prometheus' tools would take for counters by their names; the labelled ones say the same. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** A service's metrics, with those of its process. Everything in it is in `deploy/metrics.md`. */
export function createMetrics(service: string, build: Build = { version: 'dev', revision: '' }): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  new Gauge({
    name: 'brand_data_build_info',
    help: 'What runs: always 1',
    labelNames: ['version', 'revision', 'node'],
    registers: [registry],
  }).set({ ...build, node: process.versions.node }, 1);
  return registry;
}

/** What all users of one registry share: made for the first of them. */
export function perRegistry<T>(make: (registry: Registry) => T): (registry: Registry) => T {
  const made = new WeakMap<Registry, T>();
  return (registry) => {
    const existing = made.get(registry);
    if (existing !== undefined) return existing;
    const fresh = make(registry);
    made.set(registry, fresh);
    return fresh;
  };
}
