import type { Service } from '@brand-data/runtime';
import type { RetentionEvents } from './usage-retention.ts';

/** The log has a warning at the third failure in a row, because NATS may be unreachable for a moment. */
const TOLD_AT_FAILURE = 3;

/** Reports to the log what retention does. */
export function retentionEvents({ log }: Service): RetentionEvents {
  return {
    purged: ({ name }, purged) => log.info({ stream: name, purged }, 'purged applied usage from the stream'),
    failed: (err, times) => {
      if (times === TOLD_AT_FAILURE) log.warn({ err }, 'cannot make room in the usage streams');
    },
  };
}
