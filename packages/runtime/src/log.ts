import { type Logger, pino } from 'pino';

export type { Logger };

/**
 * JSON lines on standard output. Errors under `err` keep their stack; nothing that is logged holds a token.
 *
 * @param mixin what every line has beside, such as the trace that it is written in
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
