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

/** Makes a write, and announces these keys (`changeKeysOf`), also if the write fails: it may have been made in part. */
export type Announce = <T>(keys: readonly number[], write: () => Promise<T>) => Promise<T>;

/**
 * Announces changed records to gateways, at most once a second. proto/brand_data/v1/catalog.proto describes the series. When the
 * service stops, the announcer sends the announcements that it has left.
 */
export class Announcer {
  readonly #log: Service['log'];
  readonly #connection: Nats['connection'];
  #series: { id: string; messages: number } | undefined;
  #ticking: NodeJS.Timeout | undefined;
  #writing = 0;
  #unconfirmed = 0;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #changed = new Set<number>();
  #everyRecord = false;
  readonly #unsure = new Set<NodeJS.Timeout>();

  constructor(service: Service, { connection }: Pick<Nats, 'connection'>) {
    this.#log = service.log;
    this.#connection = connection;
    service.onStop('announcements', () => this.#close());
  }

  readonly announce: Announce = async (keys, write) => {
    this.#begin();
    this.#writing += 1;
    try {
      return await write();
    } catch (error) {
      this.#announceAgain(keys);
      throw error;
    } finally {
      this.#writing -= 1;
      this.#end(keys);
    }
  };

  /** Resolves once NATS has received all announcements of finished writes. Otherwise rejects with Fault `unavailable`. */
  async confirm(): Promise<void> {
    const untilMs = performance.now() + FLUSH_MS;
    while (this.#unconfirmed > 0 || this.#hasChanges()) {
      try {
        await this.#send();
        return;
      } catch (cause) {
        if (performance.now() + REPEAT_AFTER_MS >= untilMs)
          throw new Fault('unavailable', NOT_CONFIRMED, { cause });
        await delay(REPEAT_AFTER_MS);
      }
    }
  }

  async #close(): Promise<void> {
    for (const timer of this.#unsure) clearTimeout(timer);
    if (this.#series !== undefined || this.#hasChanges()) await this.#sendOrLog();
    clearInterval(this.#ticking);
  }

  #hasChanges(): boolean {
    return this.#changed.size > 0 || this.#everyRecord;
  }

  /** Opens a series if none is open. Gateways then know that changes follow, and notice if this process ends before them. */
  #begin(): void {
    this.#ticking ??= setInterval(() => void this.#sendOrLog(), SERIES_INTERVAL_MS);
    if (this.#series !== undefined) return;
    try {
      this.#publish({ keys: [], everyRecord: false, last: false });
    } catch (err) {
      this.#logLost(err);
    }
  }

  #end(keys: readonly number[]): void {
    this.#add(keys);
    if (performance.now() - this.#sentAtMs >= SERIES_INTERVAL_MS) void this.#sendOrLog();
  }

  /** Announces the keys of a failed write once more, because MongoDB may still apply it. */
  #announceAgain(keys: readonly number[]): void {
    const timer = setTimeout(() => {
      this.#unsure.delete(timer);
      this.#begin();
      this.#end(keys);
    }, UNSURE_MS);
    this.#unsure.add(timer);
  }

  #add(keys: Iterable<number>): void {
    for (const key of keys) this.#changed.add(key);
    if (this.#changed.size > MAX_KEYS) this.#everyRecord = true;
    if (this.#everyRecord) this.#changed.clear();
  }

  /**
   * Sends what has changed. Resolves once NATS has received it. If NATS does not confirm that, what has changed is kept for the
   * next messages, which are of another series: the gateways that have heard a part of this one notice that it does not end.
   */
  async #send(): Promise<void> {
    const [keys, everyRecord, isEnd] = [[...this.#changed], this.#everyRecord, this.#writing === 0];
    this.#changed = new Set();
    this.#everyRecord = false;
    this.#sentAtMs = performance.now();
    this.#unconfirmed += 1;
    const parts = partsOf(keys);
    try {
      for (const [index, part] of parts.entries())
        this.#publish({ keys: part, everyRecord, last: isEnd && index === parts.length - 1 });
      if (isEnd) {
        this.#series = undefined;
        clearInterval(this.#ticking);
        this.#ticking = undefined;
      }
      await answerWithin(this.#connection.flush(), { withinMs: FLUSH_MS, detail: NOT_CONFIRMED });
    } catch (error) {
      this.#everyRecord ||= everyRecord;
      this.#add(keys);
      this.#series = undefined;
      this.#ticking ??= setInterval(() => void this.#sendOrLog(), SERIES_INTERVAL_MS);
      throw error;
    } finally {
      this.#unconfirmed -= 1;
    }
  }

  #sendOrLog(): Promise<void> {
    return this.#send().catch((err: unknown) => this.#logLost(err));
  }

  #publish(message: Pick<CatalogChanged, 'keys' | 'everyRecord' | 'last'>): void {
    this.#series ??= { id: randomUUID(), messages: 0 };
    const place = { series: this.#series.id, number: this.#series.messages++ };
    this.#connection.publish(
      CATALOG_CHANGES_SUBJECT,
      CatalogChanged.encode({ ...place, ...message }).finish(),
    );
  }

  #logLost(err: unknown): void {
    this.#log.warn({ err }, 'NATS did not confirm that it received an announcement of changed records');
  }
}

/** Returns at least one part, which may be empty. */
function partsOf(keys: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(keys.length / KEYS_OF_MESSAGE) || 1 }, (_, part) =>
    keys.slice(part * KEYS_OF_MESSAGE, (part + 1) * KEYS_OF_MESSAGE),
  );
}
