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
