import { CATALOG_CHANGES_SUBJECT, CatalogChanged, SERIES_INTERVAL_MS } from '@brand-data/contracts';
import type { Nats, Service } from '@brand-data/runtime';
import type { FullExpiry } from '../metrics/upstream-metrics.ts';
import type { Messages } from '../upstream/messages.ts';
import type { Records } from './records.ts';

const TICK_MS = SERIES_INTERVAL_MS / 2;
/**
 * A series without a message for so many ticks has lost its messages or its replica. Ticks are counted rather than time, because
 * messages that have arrived wait while this process is busy, and so do its ticks.
 */
const SILENT_TICKS = 6;

type ChangeReader = ReturnType<typeof createChangeReader>;

/**
 * Reads the series of `CatalogChanged`, and notices when it may have missed a message.
 *
 * @param onFullExpiry called with the reason each time that all cached records are expired
 */
export function createChangeReader(
  records: Pick<Records, 'expire' | 'expireAll'>,
  onFullExpiry: (reason: FullExpiry) => void,
) {
  /** The series that have not ended. Those that fall silent are removed, so there are few. */
  const open = new Map<string, { messages: number; silentTicks: number }>();

  function expireAllFor(reason: FullExpiry): void {
    records.expireAll();
    onFullExpiry(reason);
  }

  return {
    read({ keys, everyRecord, series, number, last }: CatalogChanged): void {
      // A series that is first heard in its middle may have begun before the connection. But its last message may also be one that
      // NATS lost on this connection, and the gateway cannot tell the two apart.
      if (number !== (open.get(series)?.messages ?? 0)) expireAllFor('missed_message');
      if (last) open.delete(series);
      else open.set(series, { messages: number + 1, silentTicks: 0 });
      if (everyRecord) expireAllFor('many_changes');
      else records.expire(keys);
    },

    /** Call this every TICK_MS. */
    tick(): void {
      const silent = [...open].filter(([, each]) => ++each.silentTicks >= SILENT_TICKS);
      for (const [series] of silent) open.delete(series);
      if (silent.length > 0) expireAllFor('missed_message');
    },

    /** The connection is a new one, and messages may have been missed. */
    reconnected(): void {
      open.clear();
      expireAllFor('reconnect');
    },
  };
}

/** Expires cached records when catalog announces that they have changed, and all records when an announcement may be lost. */
export function followCatalogChanges(
  service: Pick<Service, 'onStop'>,
  { onReconnect }: Pick<Nats, 'onReconnect'>,
  messages: Messages,
  reader: ChangeReader,
): void {
  messages.follow('catalog_changes', CATALOG_CHANGES_SUBJECT, CatalogChanged.decode, reader.read);
  onReconnect(reader.reconnected);
  const ticking = setInterval(reader.tick, TICK_MS);
  service.onStop('changes of records', () => clearInterval(ticking));
}
