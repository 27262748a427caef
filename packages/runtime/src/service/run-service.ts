import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import v8 from 'node:v8';
import closeWithGrace from 'close-with-grace';
import { Registry } from 'prom-client';
import {
  baseSpec,
  ConfigError,
  type ConfigOf,
  type ConfigSpec,
  parseConfig,
  setUpSpec,
} from '../config/config.ts';
import { inNetworks } from '../config/networks.ts';
import { followFile } from '../config/setting-files.ts';
import { Diagnosis } from '../observe/diagnosis.ts';
import { createLogger } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { Readiness } from '../observe/readiness.ts';
import type { Tracer } from '../observe/tracing.ts';
import type { Service } from './service.ts';

/** The time from the end of the drain to the forced end of the process. */
const STOP_WITHIN_MS = 25_000;

/**
 * V8 starts a major collection of garbage when its heap has grown by this much. By default it lets a heap double and more, because
 * it sees unused memory. The costs of this value are in test/bench/README.md.
 */
const HEAP_GROWS_BY_PERCENT = 30;

/**
 * Runs one service. It reads the settings (`spec`, and those of every service) from the environment, serves /livez, /readyz and
 * /metrics at once, and runs `start`. On SIGTERM or SIGINT it becomes unready, continues to serve for DRAIN_MS, and then stops
 * everything that it has started, in reverse order. It exits with 1 if settings are wrong, if the start fails, or if the stop
 * takes longer than `stopWithinMs` after the drain.
 */
export async function runService<Spec extends ConfigSpec>(
  name: string,
  spec: Spec,
  start: (service: Service, config: ConfigOf<typeof baseSpec & Spec>) => Promise<void>,
  stopWithinMs = STOP_WITHIN_MS,
): Promise<void> {
  // By itself, Node would open a debugger on this signal, which any process of the same user may send.
  process.on('SIGUSR1', () => {});
  v8.setFlagsFromString(`--heap-growing-percent=${HEAP_GROWS_BY_PERCENT}`);
  const settings = readSettings(name, { ...baseSpec, ...spec });
  if (settings === undefined) return;
  // TypeScript does not see that a mapped type over an intersection has the members of its parts.
  const config = settings as ConfigOf<typeof baseSpec>;
  const log = createLogger(name, config.LOG_LEVEL);
  const build = { version: config.BUILD_VERSION, revision: config.BUILD_REVISION };
  const metrics = createMetrics(name, build);
  const readiness = new Readiness();
  const stopping = new AbortController();
  const stops: { what: string; stop: () => unknown }[] = [];
  const onStop: Service['onStop'] = (what, stop) => stops.push({ what, stop });
  const onSettingChange: Service['onSettingChange'] = (what, changed) => {
    const path = process.env[`${what}_FILE`];
    if (path) onStop(`look at ${what}`, followFile({ path, what, log }, changed));
  };

  closeWithGrace({ delay: config.DRAIN_MS + stopWithinMs, logger: false }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'stopping on a defect');
    else log.info({ signal }, 'stopping');
    const wasServing = readiness.started;
    readiness.close();
    if (!err && wasServing) await delay(config.DRAIN_MS);
    stopping.abort(new Error('the service is stopping'));
    for (const { what, stop } of stops.reverse()) {
      try {
        await stop();
      } catch (error) {
        log.error({ err: error }, `${what} did not stop cleanly`);
      }
    }
    log.info('stopped');
  });

  let tracer: Tracer | undefined;
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT !== '') {
    // Load this code only if tracing is on.
    const { startOtlp } = await import('../observe/otlp.ts');
    const { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
    const otlp = startOtlp(name, { log, build, sampler, ratio });
    onStop('traces', () => otlp.stop());
    tracer = otlp.tracer;
  }
  const ops = await serveOps(config.HOST, config.OPS_PORT, readiness, metrics);
  onStop('operations port', async () => {
    ops.close();
    ops.closeAllConnections();
    await once(ops, 'close');
  });
  try {
    const service: Service = {
      name,
      log,
      metrics,
      readiness,
      diagnosis: new Diagnosis(),
      build,
      tracer,
      trustsTraceOf: inNetworks(config.TRACE_TRUSTED_CALLERS),
      signal: stopping.signal,
      onStop,
      onSettingChange,
    };
    await start(service, settings);
    readiness.open();
    log.info('ready');
  } catch (error) {
    if (stopping.signal.aborted) return;
    throw error;
  }
}

/** Returns the settings in the environment. If they are wrong, writes the reasons to standard error and sets the exit code to 1. */
function readSettings<Spec extends ConfigSpec>(who: string, spec: Spec): ConfigOf<Spec> | undefined {
  try {
    return parseConfig(process.env, spec);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${who}: ${error.message}\n`);
    process.exitCode = 1;
    return undefined;
  }
}

/** The port for probes and Prometheus. */
async function serveOps(host: string, port: number, readiness: Readiness, metrics: Registry) {
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type }).end(body);
    try {
      if (request.url === '/livez') answer(200, 'alive\n');
      else if (request.url === '/readyz') {
        const missing = await readiness.missing();
        if (missing.length === 0) answer(200, 'ready\n');
        else answer(503, `not ready: ${missing.join(', ')}\n`);
      } else if (request.url === '/metrics') answer(200, await metrics.metrics(), metrics.contentType);
      else answer(404, 'here are /livez, /readyz and /metrics\n');
    } catch {
      answer(500, 'internal\n');
    }
  });
  server.requestTimeout = 5_000;
  await once(server.listen(port, host), 'listening');
  return server;
}

/** When SET_UP_TIMEOUT_MS is over, the attempt under way may take this much longer, so that it fails with its own message. */
const LAST_ATTEMPT_MS = 3_500;
const CLOSE_WITHIN_MS = 5_000;

/**
 * Runs `setUp`, which creates a service's database and streams or brings them up to date, and may run any number of times. Exits
 * with 1 and the reason if the settings (`spec`, and those of every set-up) are wrong, or if a server does not answer within
 * SET_UP_TIMEOUT_MS. MongoDB then continues to build the index of a large collection, and the next run waits for that index.
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
  setTimeout(() => process.exit(), CLOSE_WITHIN_MS).unref();
  for (const stop of stops.reverse()) await Promise.resolve(stop()).catch(() => {});
}
