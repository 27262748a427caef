import { type Logger, pino } from 'pino';
import { activeSpanContext } from './tracing.ts';

export type { Logger };

/**
 * Writes JSON lines to standard output, with the ids of the trace that a line belongs to. Errors under `err` keep their stack. No
 * line holds a token.
 */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    mixin: () => {
      const span = activeSpanContext();
      return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
    },
  });
}

const SPARINGLY_MS = 1_000;

/** Limits `write` to one line a second, because strangers decide how often it is called. `skipped` counts the calls between. */
export function sparingly<Fields extends object>(
  write: (fields: Fields & { skipped: number }) => void,
  nowMs: () => number = () => performance.now(),
): (fields: Fields) => void {
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  let skipped = 0;
  return (fields) => {
    if (nowMs() < quietUntilMs) {
      skipped += 1;
      return;
    }
    write({ ...fields, skipped });
    quietUntilMs = nowMs() + SPARINGLY_MS;
    skipped = 0;
  };
}
