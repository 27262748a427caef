import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { RenderOptions, Values } from './render.ts';

/** The values that a plain install cannot do without. */
export const PLAIN = {
  mongodb: { url: 'mongodb://db-0.example.com,db-1.example.com/?replicaSet=rs' },
  nats: { url: 'nats://bus.example.com:4222' },
  gateway: { logoHost: 'https://logos.example.com' },
} satisfies Values;

export const QUICKSTART = { quickstart: { enabled: true } } satisfies Values;

/** Servers with certificates of a private authority, and a separate user for the gateway. */
export const WITH_BUNDLES = {
  mongodb: { existingSecret: 'urls', ca: { configMap: 'authority', key: 'ca.pem' } },
  nats: { existingSecret: 'urls', secretKeys: { gateway: 'gateway-nats' }, ca: { secret: 'nats-tls' } },
  gateway: PLAIN.gateway,
} satisfies Values;

/** The API versions of a cluster with the Prometheus operator and a metrics adapter. */
export const WITH_OPERATORS = [
  'monitoring.coreos.com/v1/PodMonitor',
  'monitoring.coreos.com/v1/PrometheusRule',
  'custom.metrics.k8s.io/v1beta1',
];

/** Ways to install. Together they reach every branch of the templates. */
export const MATRIX: Record<string, { values: Values; options?: RenderOptions }> = parse(
  readFileSync(join(import.meta.dirname, 'matrix.yaml'), 'utf8'),
);
