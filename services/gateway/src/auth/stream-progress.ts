import { randomUUID } from 'node:crypto';
import { type Clock, elapsedMs, type Instant } from '@brand-data/runtime';

const CURRENT_FOR_MS = 1_000;
/** After this time without calls no cached token is trusted, so beats would serve no purpose. */
const IDLE_AFTER_MS = 600_000;
/** Older beats are longer than `CURRENT_FOR_MS` on their way, and prove nothing any more. */
const MOST_BEATS_ON_THE_WAY = 64;

/**
 * Tracks how much of the stream this gateway has received.
 *
 * Messages and heartbeats of NATS do not prove that a gateway is up to date. A NATS server that is cut off from its cluster
 * delivers the messages that it has, and then reports that there are no more. Each gateway therefore publishes beats into the stream.
 * Once a majority of the servers has stored a beat, the consumer of all gateways delivers it in the stream's order. When a beat comes
 * back, the gateway has also received every message since the first of this unbroken sequence. A beat's payload is random, so no
 * other process can make a gateway believe that one of its beats has come back.
 */
export class StreamProgress {
  readonly #clock: Pick<Clock, 'now'>;
  /** The deliveries without a gap: when the first one came, and the number of the last one. */
  #followed: { since: Instant; delivered: number } | undefined;
  #currentAsOf: Instant | undefined;
  /** When the newest beat was sent that has come back. At first, when the process started. */
  #heardAsOf: Instant;
  #askedAt: Instant;
  /** The beats on their way, by payload, the oldest first. */
  readonly #sent = new Map<string, Instant>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#askedAt = clock.now();
    this.#heardAsOf = this.#askedAt;
  }

  get #isIdle(): boolean {
    return elapsedMs(this.#askedAt, this.#clock.now()) >= IDLE_AFTER_MS;
  }

  /** How old the newest beat is that has come back, in milliseconds. 0 while no beats are sent. */
  get ageMs(): number {
    return this.#isIdle ? 0 : elapsedMs(this.#heardAsOf, this.#clock.now());
  }

  /** Returns the payload of a beat that is sent now, or undefined if no call has needed a beat for a long time. */
  beat(): string | undefined {
    if (this.#isIdle) return undefined;
    const payload = randomUUID();
    this.#sent.set(payload, this.#clock.now());
    for (const oldest of this.#sent.keys())
      if (this.#sent.size > MOST_BEATS_ON_THE_WAY) this.#sent.delete(oldest);
    return payload;
  }

  /**
   * Notes a delivery. If it does not directly follow the last one, messages may be lost: every token that was verified before is
   * verified again.
   *
   * @param sequence numbers the consumer's deliveries
   * @returns whether it is the first delivery, or the first one after a loss
   */
  arrived(sequence: number): boolean {
    const before = this.#followed;
    if (before && before.delivered + 1 === sequence) {
      before.delivered = sequence;
      return false;
    }
    this.lost();
    this.#followed = { since: this.#clock.now(), delivered: sequence };
    return true;
  }

  /** Notes that messages may be lost, or that one could not be read. No token is current until the next delivery. */
  lost(): void {
    this.#followed = undefined;
    this.#currentAsOf = undefined;
  }

  /** Notes that a beat was delivered without a gap: all changes that were confirmed before it was sent have arrived too. */
  returned(payload: string): void {
    const sentAt = this.#sent.get(payload);
    if (sentAt === undefined) return;
    this.#sent.delete(payload);
    this.#currentAsOf = sentAt;
    this.#heardAsOf = sentAt;
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
