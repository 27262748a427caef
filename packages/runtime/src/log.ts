import { type Logger, pino } from 'pino';

export type { Logger };

/** JSON lines on standard output. Errors under `err` keep their stack; nothing that is logged holds a token. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
