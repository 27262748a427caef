import { type Logger, pino } from 'pino';

export type { Logger };

/**
 * Writes JSON lines to standard output. Errors under `err` keep their stack. No line holds a token.
 *
 * @param mixin further fields of each line, such as the ids of the trace that the line belongs to
 */
export function createLogger(
  service: string,
  level: string,
  mixin: () => object | undefined = () => undefined,
): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    mixin: () => mixin() ?? {},
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
