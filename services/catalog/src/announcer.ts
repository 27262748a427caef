import { setTimeout as delay } from 'node:timers/promises';
import { CATALOG_CHANGES_SUBJECT, CatalogChanged } from '@brand-data/contracts';
import { answerWithin, Fault, type Nats, type Service } from '@brand-data/runtime';

/** Short enough that gateways hear of a change within 5 s, and long enough that they do not hear of every batch. */
const INTERVAL_MS = 2_000;
const FLUSH_MS = 2_000;
const REPEAT_AFTER_MS = 50;
const NOT_CONFIRMED =
  'the records are stored, but NATS did not confirm the announcement to gateways: run the import again';

/** Announces changed records to gateways: the first change at once, further changes every two seconds. */
export interface Announcer {
  /** Call this after a change is stored. If the message is lost, gateways only learn of the change later. */
  changed(): void;
  /** Announces now. Resolves once the NATS server has received the message; otherwise rejects with Fault `unavailable`. */
  announce(): Promise<void>;
}

export function startAnnouncer(service: Service, { connection }: Nats): Announcer {
  const everyRecord = CatalogChanged.encode({ brandIds: [] }).finish();
  let announcedAt = Number.NEGATIVE_INFINITY;
  let next: NodeJS.Timeout | undefined;

  function publish(): void {
    clearTimeout(next);
    next = undefined;
    announcedAt = performance.now();
    connection.publish(CATALOG_CHANGES_SUBJECT, everyRecord);
  }

  function publishOrLog(): void {
    try {
      publish();
    } catch (err) {
      service.log.warn({ err }, 'the change of records was not announced to gateways');
    }
  }

  service.onStop('announcements', () => {
    if (next !== undefined) publishOrLog();
  });

  return {
    changed() {
      if (next !== undefined) return;
      const waitMs = announcedAt + INTERVAL_MS - performance.now();
      if (waitMs <= 0) publishOrLog();
      else next = setTimeout(publishOrLog, waitMs);
    },

    async announce() {
      const untilMs = performance.now() + FLUSH_MS;
      for (;;) {
        try {
          publish();
          await answerWithin(connection.flush(), {
            withinMs: untilMs - performance.now(),
            detail: NOT_CONFIRMED,
          });
          return;
        } catch (cause) {
          // The message may be lost with its connection, for example while the credentials of NATS are being replaced.
          if (performance.now() + REPEAT_AFTER_MS >= untilMs)
            throw new Fault('unavailable', NOT_CONFIRMED, { cause });
          await delay(REPEAT_AFTER_MS);
        }
      }
    },
  };
}
