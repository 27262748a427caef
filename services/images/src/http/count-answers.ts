import type { Service } from '@brand-data/runtime';
import { Counter, Histogram } from 'prom-client';
import type { ImageLabels } from './answer.ts';

/** Registers the metrics of answers, which never hold a URL, and returns the function that counts and times an answer. */
export function countImageAnswers({
  metrics,
}: Pick<Service, 'metrics'>): (asked: ImageLabels, status: number, tookMs?: number) => void {
  const requests = new Counter({
    name: 'images_http_requests_total',
    help: 'Answers to callers, by kind of image, format of the answer and status',
    labelNames: ['kind', 'format', 'status'],
    registers: [metrics],
  });
  // These series start at zero. Without them Prometheus would not see the first failure as an increase.
  for (const status of [500, 503]) requests.inc({ kind: 'logo', format: 'none', status }, 0);
  const duration = new Histogram({
    name: 'images_http_request_duration_seconds',
    help: 'Seconds from a request to its answer, by status',
    labelNames: ['status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [metrics],
  });
  return ({ kind, format }, status, tookMs) => {
    requests.inc({ kind, format, status });
    if (tookMs !== undefined) duration.observe({ status }, tookMs / 1000);
  };
}
