import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { Diagnosis } from '../observe/diagnosis.ts';
import type { Logger } from '../observe/log.ts';
import type { Build } from '../observe/metrics.ts';
import type { Readiness } from '../observe/readiness.ts';
import type { Tracer } from '../observe/tracing.ts';

/** What runService gives to a service's start. */
export interface Service {
  name: string;
  log: Logger;
  metrics: Registry;
  readiness: Readiness;
  /** The checks for `bds doctor`. Absent in a set-up, which `bds doctor` does not ask. */
  diagnosis?: Diagnosis | undefined;
  build?: Build | undefined;
  /** Absent if tracing is off. */
  tracer: Tracer | undefined;
  /** Whether an HTTP caller from this IP address may demand that its call is traced. Absent where there are no HTTP callers. */
  trustsTraceOf?: ((address: string) => boolean) | undefined;
  /** Aborted once the drain is over and the stop begins. */
  signal: AbortSignal;
  /** Registers what releases a resource, when it is acquired. At the stop, releases run in the reverse order. */
  onStop(what: string, stop: () => unknown): void;
  /**
   * Calls `changed` with the new text of this setting each time that the setting's file changes. If the setting is not in a file,
   * `changed` is never called. If `changed` throws, the service keeps the old value.
   */
  onSettingChange(name: string, changed: (text: string) => void): void;
}

/**
 * Tries `attempt` until it succeeds, with pauses that grow from 100 ms to 2 s. Services use it to wait for their dependencies,
 * since services start in any order. Rejects once the signal is aborted, with the message of the last failure.
 */
export async function retryUntilStopped<T>(
  what: string,
  attempt: () => Promise<T>,
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<T> {
  signal.throwIfAborted();
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
    try {
      return await attempt();
    } catch (err) {
      const { message } = err as Error;
      log.warn({ err: { message }, pauseMs }, `waiting for ${what}`);
      await delay(pauseMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) throw new Error(`${what}: ${message}`, { cause: signal.reason });
    }
  }
}
