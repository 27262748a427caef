import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { type ConfigOf, type ConfigSpec, setUpSpec } from '../config/config.ts';
import { createLogger } from '../observe/log.ts';
import { Readiness } from '../observe/readiness.ts';
import { readSettings } from './run-service.ts';
import type { Service } from './service.ts';

/** When SET_UP_TIMEOUT_MS is over, the attempt under way may take this much longer, so that it fails with its own message. */
const LAST_ATTEMPT_MS = 3_500;
const STOP_WITHIN_MS = 5_000;

/**
 * Runs `setUp`, which creates a service's database and streams or brings them up to date, and may run any number of times. Exits
 * with 0 when that is done. Exits with 1 and the reason if the settings (`spec`, and those of every set-up) are wrong, or if a
 * server does not answer within SET_UP_TIMEOUT_MS. After such a timeout, MongoDB continues to build the index of a large
 * collection, and the next run waits for that index.
 */
export async function runSetUp<Spec extends ConfigSpec>(
  name: string,
  spec: Spec,
  setUp: (service: Service, config: ConfigOf<typeof setUpSpec & Spec>) => Promise<unknown>,
): Promise<void> {
  const config = readSettings(`${name} set-up`, { ...setUpSpec, ...spec });
  if (config === undefined) return;
  const { LOG_LEVEL, SET_UP_TIMEOUT_MS: withinMs } = config as ConfigOf<typeof setUpSpec>;
  const log = createLogger(name, LOG_LEVEL);
  const stops: (() => unknown)[] = [];
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('it took too long')), withinMs);
  const tooLong = delay(withinMs + LAST_ATTEMPT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`the set-up did not finish within ${withinMs / 1000} s`);
  });
  try {
    const service: Service = {
      name,
      log,
      metrics: new Registry(),
      readiness: new Readiness(),
      tracer: undefined,
      signal: late.signal,
      onStop: (_what, stop) => stops.push(stop),
      onSettingChange: () => {},
    };
    await Promise.race([setUp(service, config), tooLong]);
    log.info('set up');
  } catch (error) {
    process.stderr.write(`${name} set-up: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
  clearTimeout(timer);
  // No work is under way any more, so a connection that does not close in time may end with the process.
  setTimeout(() => process.exit(), STOP_WITHIN_MS).unref();
  for (const stop of stops.reverse()) await Promise.resolve(stop()).catch(() => {});
}
