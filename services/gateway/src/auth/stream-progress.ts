import { randomUUID } from 'node:crypto';
import { type Clock, elapsedMs, type Instant } from '@brand-data/runtime';

const CURRENT_FOR_MS = 1_000;
/** After this time without calls no cached token is trusted, so beats would serve no purpose. */
const IDLE_AFTER_MS = 600_000;
/** If no beat returns for this long, the gateway creates a new consumer, maybe on another server. It is longer than an election. */
const STUCK_AFTER_MS = 10_000;
/** Older beats are longer than `CURRENT_FOR_MS` on their way, and prove nothing any more. */
const MOST_BEATS_ON_THE_WAY = 64;

/**
 * Tracks how much of the stream this gateway has received.
 *
 * Messages and heartbeats of NATS do not prove that a gateway is up to date. A NATS server that is cut off from its cluster
 * delivers the messages that it has, and then reports that there are no more. Each gateway therefore publishes beats into the stream.
 * Once a majority of the servers has stored a beat, the consumer delivers it in the stream's order. When a beat comes back, the
 * gateway has also received every earlier message. A beat's payload is random, so no other process can make a gateway believe that
 * one of its beats has come back.
 */
export class StreamProgress {
  readonly #clock: Pick<Clock, 'now'>;
  #followed: { consumer: string; since: Instant; delivered: number } | undefined;
  #currentAsOf: Instant | undefined;
  #unansweredSince: Instant | undefined;
  #askedAt: Instant;
  /** The beats on their way, by payload, the oldest first. */
  readonly #sent = new Map<string, Instant>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#askedAt = clock.now();
  }

  /** Follows a consumer that was just created. It delivers all messages that the stream stores from now on. */
  follow(consumer: string): void {
    this.#followed = { consumer, since: this.#clock.now(), delivered: 0 };
    this.#currentAsOf = undefined;
    this.#unansweredSince = undefined;
  }

  /** Returns the payload of a beat that is sent now, or undefined if no call has needed a beat for a long time. */
  beat(): string | undefined {
    const now = this.#clock.now();
    if (elapsedMs(this.#askedAt, now) >= IDLE_AFTER_MS) {
      this.#unansweredSince = undefined;
      return undefined;
    }
    this.#unansweredSince ??= now;
    const payload = randomUUID();
    this.#sent.set(payload, now);
    for (const oldest of this.#sent.keys())
      if (this.#sent.size > MOST_BEATS_ON_THE_WAY) this.#sent.delete(oldest);
    return payload;
  }

  /**
   * Whether this delivery directly follows the last one. If not, a message may be lost, and the caller needs a new consumer.
   * `deliverySequence` numbers the consumer's messages from 1.
   */
  isNext({ consumer, deliverySequence }: { consumer: string; deliverySequence: number }): boolean {
    if (this.#followed?.consumer !== consumer || this.#followed.delivered + 1 !== deliverySequence) {
      this.#followed = undefined;
      return false;
    }
    this.#followed.delivered = deliverySequence;
    return true;
  }

  /** Notes that a delivered message could not be read: no token is current until a new consumer is followed. */
  lost(): void {
    this.#followed = undefined;
  }

  /** Notes that a beat was delivered without a gap: all changes that were confirmed before it was sent have arrived too. */
  returned(payload: string): void {
    const sentAt = this.#sent.get(payload);
    if (sentAt === undefined) return;
    this.#sent.delete(payload);
    this.#currentAsOf = sentAt;
    this.#unansweredSince = undefined;
  }

  /** Whether beats have been lost for so long that another consumer should be tried. */
  isStuck(): boolean {
    const since = this.#unansweredSince;
    return since !== undefined && elapsedMs(since, this.#clock.now()) >= STUCK_AFTER_MS;
  }

  /** Whether this gateway has received every change that was confirmed since `since`, except for changes of the last second. */
  allArrivedSince(since: Instant): boolean {
    this.#askedAt = this.#clock.now();
    if (this.#followed === undefined || this.#currentAsOf === undefined) return false;
    return (
      since.monotonicMs > this.#followed.since.monotonicMs &&
      elapsedMs(this.#currentAsOf, this.#askedAt) < CURRENT_FOR_MS
    );
  }
}
