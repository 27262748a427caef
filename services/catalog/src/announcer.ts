import { CATALOG_CHANGES_SUBJECT, CatalogChanged } from '@brand-data/contracts';
import { Fault, type Nats, type Service } from '@brand-data/runtime';

/** Gateways hear of a change within 5 s, but not of each batch of an import. */
const INTERVAL_MS = 2_000;
const FLUSH_MS = 2_000;

/** Announces changed records to gateways: the first change at once, further ones at intervals, the last one always. */
export interface Announcer {
  /** To be called when a change is stored. A lost message only delays gateways. */
  changed(): void;
  /** Announces now. Resolves once the NATS server has the message; rejects with Fault `unavailable`. */
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
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('no answer in time')), FLUSH_MS);
      });
      try {
        publish();
        await Promise.race([connection.flush(), late]);
      } catch (cause) {
        const detail =
          'the records are stored, but NATS did not take the announcement: finish the import again';
        throw new Fault('unavailable', detail, { cause });
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
