import { USAGE_NEWS_EVERY_MS, type UsageNews } from '@brand-data/contracts';

/** A replica of metering that is silent for so long has ended, or its messages are lost. */
const SILENT_MS = 6 * USAGE_NEWS_EVERY_MS;

/** Follows the series of `UsageNews`, and notices when this gateway may have missed a message. */
export class NewsSeries {
  /** The series that have not ended, with the number of their messages. */
  readonly #open = new Map<string, { messages: number; heardMs: number }>();
  /** Since when no message is missed, on the monotonic clock. Infinity: no replica of metering is heard now. */
  completeSinceMs = Number.POSITIVE_INFINITY;

  heard({ series, number, last }: UsageNews, nowMs: number): void {
    const isNext = this.#open.size > 0 && number === (this.#open.get(series)?.messages ?? 0);
    if (last) this.#open.delete(series);
    else this.#open.set(series, { messages: number + 1, heardMs: nowMs });
    if (!isNext || this.#open.size === 0) this.#missed(nowMs);
  }

  /** Call this several times a second. */
  tick(nowMs: number): void {
    for (const [series, { heardMs }] of this.#open) {
      if (nowMs - heardMs <= SILENT_MS) continue;
      this.#open.delete(series);
      this.#missed(nowMs);
    }
  }

  #missed(nowMs: number): void {
    this.completeSinceMs = this.#open.size > 0 ? nowMs : Number.POSITIVE_INFINITY;
  }
}
