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
