import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { VERSION } from '../base/version.ts';

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
export function createMetrics(service: string, build: Build = { version: VERSION, revision: '' }): Registry {
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

/** Makes a value once for each registry, when it is first needed. All users of the registry share the value. */
export function perRegistry<T>(make: (registry: Registry) => T): (registry: Registry) => T {
  const made = new WeakMap<Registry, T>();
  return (registry) => {
    const value = made.get(registry) ?? make(registry);
    made.set(registry, value);
    return value;
  };
}
