import type { Service } from '@brand-data/runtime';
import type { RetentionEvents } from './usage-retention.ts';

/** The failure in a row at which operators are told: NATS may be away for a moment. */
const TOLD_AT_FAILURE = 3;

/** What retention does, as the log sees it. */
export function retentionEvents({ log }: Service): RetentionEvents {
  return {
    purged: ({ name }, purged) =>
      log.info({ stream: name, purged }, 'applied usage was taken out of the stream'),
    failed: (err, times) => {
      if (times === TOLD_AT_FAILURE) log.warn({ err }, 'usage streams cannot be kept from filling');
    },
  };
}
