import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CATALOG_CHANGES_SUBJECT, CatalogChanged, SERIES_INTERVAL_MS } from '@brand-data/contracts';
import { answerWithin, Fault, type Nats, type Service } from '@brand-data/runtime';

/** 128 KiB. NATS accepts up to 1 MiB by default. */
const KEYS_OF_MESSAGE = 32_768;
/** The most keys that wait to be announced: those of about 25,000 records. */
const MAX_KEYS = 8 * KEYS_OF_MESSAGE;
const FLUSH_MS = 2_000;
const REPEAT_AFTER_MS = 50;
/** Longer than MongoDB takes to make or to give up a write whose outcome the service does not know. */
const UNSURE_MS = 15_000;
const NOT_CONFIRMED =
  'the records are stored, but NATS did not confirm the announcement to gateways: they look the records up again when NATS is back';

/**
 * Makes a write, and announces that records with these keys (`changeKeysOf`) have changed, also if the write fails: it may have
 * been made in part.
 */
export type Announce = <T>(keys: readonly number[], write: () => Promise<T>) => Promise<T>;

/** Announces changed records to gateways: the first change at once, further changes every second. */
export interface Announcer {
  announce: Announce;
  /** Resolves once NATS has received all announcements of finished writes. Otherwise rejects with Fault `unavailable`. */
  confirm(): Promise<void>;
}

/** The series of messages are described in proto/brand_data/v1/catalog.proto. */
export function startAnnouncer(service: Service, { connection }: Pick<Nats, 'connection'>): Announcer {
  let series: { id: string; messages: number } | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let writing = 0;
  let unconfirmed = 0;
  let sentAtMs = Number.NEGATIVE_INFINITY;
  let changed = new Set<number>();
  let everyRecord = false;
  const unsure = new Set<NodeJS.Timeout>();

  function add(keys: Iterable<number>): void {
    for (const key of keys) changed.add(key);
    if (changed.size > MAX_KEYS) everyRecord = true;
    if (everyRecord) changed.clear();
  }

  function publish(message: Pick<CatalogChanged, 'keys' | 'everyRecord' | 'last'>): void {
    series ??= { id: randomUUID(), messages: 0 };
    const place = { series: series.id, number: series.messages++ };
    connection.publish(
      CATALOG_CHANGES_SUBJECT,
      CatalogChanged.encode({ brandIds: [], ...place, ...message }).finish(),
    );
  }

  /** Opens a series if none is open. Gateways then know that changes follow, and notice if this process ends before them. */
  function begin(): void {
    ticking ??= setInterval(() => void sendOrLog(), SERIES_INTERVAL_MS);
    if (series !== undefined) return;
    try {
      publish({ keys: [], everyRecord: false, last: false });
    } catch (err) {
      logLost(err);
    }
  }

  /**
   * Sends what has changed. Resolves once NATS has received it. If NATS does not confirm that, what has changed is kept for the
   * next messages, which are of another series: the gateways that have heard a part of this one notice that it does not end.
   */
  async function send(): Promise<void> {
    const [keys, every, isEnd] = [[...changed], everyRecord, writing === 0];
    changed = new Set();
    everyRecord = false;
    sentAtMs = performance.now();
    unconfirmed += 1;
    const parts = partsOf(keys);
    try {
      for (const [index, part] of parts.entries())
        publish({ keys: part, everyRecord: every, last: isEnd && index === parts.length - 1 });
      if (isEnd) {
        series = undefined;
        clearInterval(ticking);
        ticking = undefined;
      }
      await answerWithin(connection.flush(), { withinMs: FLUSH_MS, detail: NOT_CONFIRMED });
    } catch (error) {
      everyRecord ||= every;
      add(keys);
      series = undefined;
      ticking ??= setInterval(() => void sendOrLog(), SERIES_INTERVAL_MS);
      throw error;
    } finally {
      unconfirmed -= 1;
    }
  }

  const sendOrLog = () => send().catch(logLost);

  function logLost(err: unknown): void {
    service.log.warn({ err }, 'NATS did not confirm that it received an announcement of changed records');
  }

  function ended(keys: readonly number[]): void {
    add(keys);
    if (performance.now() - sentAtMs >= SERIES_INTERVAL_MS) void sendOrLog();
  }

  /** MongoDB may still make a write that has failed here. So its keys are announced once more, as those of a write that lasts. */
  function announceAgain(keys: readonly number[]): void {
    const timer = setTimeout(() => {
      unsure.delete(timer);
      begin();
      ended(keys);
    }, UNSURE_MS);
    unsure.add(timer);
  }

  service.onStop('announcements', async () => {
    for (const timer of unsure) clearTimeout(timer);
    if (series !== undefined || changed.size > 0 || everyRecord) await sendOrLog();
    clearInterval(ticking);
  });

  return {
    async announce(keys, write) {
      begin();
      writing += 1;
      try {
        return await write();
      } catch (error) {
        announceAgain(keys);
        throw error;
      } finally {
        writing -= 1;
        ended(keys);
      }
    },

    async confirm() {
      const untilMs = performance.now() + FLUSH_MS;
      while (unconfirmed > 0 || changed.size > 0 || everyRecord) {
        try {
          await send();
          return;
        } catch (cause) {
          if (performance.now() + REPEAT_AFTER_MS >= untilMs)
            throw new Fault('unavailable', NOT_CONFIRMED, { cause });
          await delay(REPEAT_AFTER_MS);
        }
      }
    },
  };
}

/** At least one part, which may be empty. */
function partsOf(keys: readonly number[]): number[][] {
  const parts = [keys.slice(0, KEYS_OF_MESSAGE)];
  for (let from = KEYS_OF_MESSAGE; from < keys.length; from += KEYS_OF_MESSAGE)
    parts.push(keys.slice(from, from + KEYS_OF_MESSAGE));
  return parts;
}
