import type { Service } from '@brand-data/runtime';
import { Counter, Gauge } from 'prom-client';
import { readAtScrape } from '../metrics/series.ts';
import type { Turns } from './turns.ts';

const MEASURED_EVERY_MS = 50;

/** Measures how late the event loop is, for the turns of accounts, and registers their metrics. */
export function measureLateness(service: Pick<Service, 'metrics' | 'onStop'>, turns: Turns): void {
  let lastMs = performance.now();
  let lateMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // The mean of the last few measurements, because one pause for garbage collection is not an overload.
    lateMs = 0.6 * lateMs + 0.4 * Math.max(0, nowMs - lastMs - MEASURED_EVERY_MS);
    lastMs = nowMs;
    turns.measured(lateMs);
  }, MEASURED_EVERY_MS);
  service.onStop('lateness', () => clearInterval(timer));
  const shed = {
    name: 'gateway_shed_calls_total',
    help: 'Calls that got 503 because the gateway was overloaded, most of them from accounts with many calls at once',
  };
  readAtScrape(Counter, service.metrics, shed, () => [[{}, turns.stats().refused]]);
  const waiting = {
    name: 'gateway_calls_waiting',
    help: 'Calls that wait for their turn now, because the event loop is late and their account has many calls in process',
  };
  readAtScrape(Gauge, service.metrics, waiting, () => [[{}, turns.stats().waiting]]);
}
