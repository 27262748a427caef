import { USAGE_NEWS_EVERY_MS, type UsageNews } from '@brand-data/contracts';

/** A replica of metering that is silent for so long has ended, or its messages are lost. */
const SILENT_MS = 6 * USAGE_NEWS_EVERY_MS;

/** Follows the series of `UsageNews`, and notices when this gateway may have missed a message. */
export class NewsSeries {
  /** The series that have not ended, with the number of their messages. */
  readonly #open = new Map<string, { messages: number; heardMs: number }>();
  /** How many replicas of metering this gateway is connected to. */
  #replicas = 1;
  /** Since when fewer replicas are heard than are connected. undefined: all are heard. */
  #unheardSinceMs: number | undefined;
  /** Since when no message is missed, on the monotonic clock. Infinity: a replica of metering is not heard now, or none is. */
  completeSinceMs = Number.POSITIVE_INFINITY;

  heard({ series, number, last }: UsageNews, nowMs: number): void {
    const isNext = this.#open.size > 0 && number === (this.#open.get(series)?.messages ?? 0);
    if (last) this.#open.delete(series);
    else this.#open.set(series, { messages: number + 1, heardMs: nowMs });
    this.#update(nowMs, !isNext);
  }

  /**
   * Call this several times a second.
   *
   * @param replicas how many replicas of metering this gateway is connected to. One that is cut off from NATS alone stores usage, and
   * no news tell of it
   */
  tick(nowMs: number, replicas: number): void {
    this.#replicas = replicas;
    let isMissed = false;
    for (const [series, { heardMs }] of this.#open) {
      if (nowMs - heardMs <= SILENT_MS) continue;
      this.#open.delete(series);
      this.#unheardSinceMs ??= heardMs;
      isMissed = true;
    }
    this.#update(nowMs, isMissed);
  }

  #update(nowMs: number, isMissed: boolean): void {
    if (this.#open.size >= this.#replicas) this.#unheardSinceMs = undefined;
    // For a moment, a replica that starts or ends is connected and not heard.
    else this.#unheardSinceMs ??= nowMs;
    const areHeard = this.#open.size > 0 && nowMs - (this.#unheardSinceMs ?? nowMs) <= SILENT_MS;
    if (isMissed || areHeard !== Number.isFinite(this.completeSinceMs))
      this.completeSinceMs = areHeard ? nowMs : Number.POSITIVE_INFINITY;
  }
}
