import { randomUUID } from 'node:crypto';
import {
  ACCOUNT_CHANGES_STREAM,
  ACCOUNT_CHANGES_SUBJECTS,
  AccountChanged,
  accountBeatsSubject,
} from '@brand-data/contracts';
import {
  type Clock,
  elapsedMs,
  type Instant,
  type Nats,
  retryUntilStopped,
  type Service,
} from '@brand-data/runtime';
import { type ConsumerMessages, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import type { Messages } from '../upstream/messages.ts';

const CURRENT_FOR_MS = 1_000;
const BEAT_EVERY_MS = 300;
/** After this time without calls every cached token is too old to be trusted, so beats would serve no purpose. */
const IDLE_AFTER_MS = 600_000;
/**
 * If no beat returns for this long, the gateway creates a new consumer: NATS may place it on another server. The time is longer
 * than an election in NATS.
 */
const STUCK_AFTER_MS = 10_000;
const HEARTBEAT_MS = 500;
/** Older beats are longer than `CURRENT_FOR_MS` on their way, and prove nothing any more. */
const MOST_BEATS_ON_THE_WAY = 64;

/** The stream of changes of keys, accounts and plans. */
export interface AccountChanges {
  /** Whether this gateway has received every change that was confirmed since `since`, except for changes of the last second. */
  allArrivedSince(since: Instant): boolean;
}

/** Tracks how much of the stream this gateway has received. */
export interface Progress extends AccountChanges {
  /** Called when a consumer was created. It delivers all messages that the stream stores from now on. */
  follow(consumer: string): void;
  /** Returns the payload of a beat that is sent now, or undefined if no call has needed a beat for a long time. */
  beat(): string | undefined;
  /** Whether this delivery directly follows the last one. If not, a message may be lost, and the caller needs a new consumer. */
  isNext(delivery: Delivery): boolean;
  /** Called when a delivered message could not be read: no token is current until a new consumer is followed. */
  lost(): void;
  /**
   * Called when a beat was delivered without a gap: all changes that were confirmed before the beat was sent have arrived too.
   */
  returned(payload: string): void;
  /** Whether beats have been lost for so long that another consumer should be tried. */
  isStuck(): boolean;
}

/** A message of a consumer. `deliverySequence` numbers the consumer's messages from 1. */
interface Delivery {
  consumer: string;
  deliverySequence: number;
}

/**
 * Messages and heartbeats of NATS do not prove that a gateway is up to date. A NATS server that is cut off from its cluster
 * delivers the messages that it has, and then reports that there are no more. So each gateway publishes beats into the stream.
 * Once a majority of the servers has stored a beat, the consumer delivers it in the stream's order. When a beat comes back, the
 * gateway has also received every earlier message. A beat's payload is random, so no other process can make a gateway believe that
 * a beat of its own has come back.
 */
export function createProgress(clock: Pick<Clock, 'now'>): Progress {
  let followed: { consumer: string; since: Instant; delivered: number } | undefined;
  let currentAsOf: Instant | undefined;
  let unansweredSince: Instant | undefined;
  let askedAt = clock.now();
  /** The beats on their way, by payload, the oldest first. */
  const sent = new Map<string, Instant>();
  return {
    follow: (consumer) => {
      followed = { consumer, since: clock.now(), delivered: 0 };
      currentAsOf = undefined;
      unansweredSince = undefined;
    },
    beat: () => {
      const now = clock.now();
      if (elapsedMs(askedAt, now) >= IDLE_AFTER_MS) {
        unansweredSince = undefined;
        return undefined;
      }
      unansweredSince ??= now;
      const payload = randomUUID();
      sent.set(payload, now);
      for (const oldest of sent.keys()) if (sent.size > MOST_BEATS_ON_THE_WAY) sent.delete(oldest);
      return payload;
    },
    isNext: ({ consumer, deliverySequence }) => {
      if (followed?.consumer !== consumer || followed.delivered + 1 !== deliverySequence) {
        followed = undefined;
        return false;
      }
      followed.delivered = deliverySequence;
      return true;
    },
    lost: () => {
      followed = undefined;
    },
    returned: (payload) => {
      const sentAt = sent.get(payload);
      if (sentAt === undefined) return;
      sent.delete(payload);
      currentAsOf = sentAt;
      unansweredSince = undefined;
    },
    isStuck: () => unansweredSince !== undefined && elapsedMs(unansweredSince, clock.now()) >= STUCK_AFTER_MS,
    allArrivedSince: (since) => {
      askedAt = clock.now();
      if (followed === undefined || currentAsOf === undefined) return false;
      return (
        since.monotonicMs > followed.since.monotonicMs && elapsedMs(currentAsOf, askedAt) < CURRENT_FOR_MS
      );
    },
  };
}

/**
 * Follows the stream of account changes with an ordered consumer, and publishes beats into the stream. If messages may be lost,
 * it creates another consumer, which starts at the end of the stream. That consumer need not deliver the lost changes, because
 * the gateway verifies again every token that it verified before this consumer was created.
 */
export async function followAccountChanges(
  service: Service,
  nats: Nats,
  clock: Pick<Clock, 'now'>,
  messages: Messages,
  onChange: (change: AccountChanged) => void,
): Promise<AccountChanges> {
  const progress = createProgress(clock);
  const beats = accountBeatsSubject(randomUUID());

  const subscribe = async (): Promise<ConsumerMessages> => {
    const consumer = await nats.js.consumers.get(ACCOUNT_CHANGES_STREAM, {
      deliver_policy: DeliverPolicy.New,
      filter_subjects: [ACCOUNT_CHANGES_SUBJECTS, beats],
    });
    const { name } = await consumer.info(true);
    progress.follow(name);
    const deliver = (message: JsMsg) => {
      if (!progress.isNext(message.info)) void consumed.close();
      else if (message.subject === beats) progress.returned(message.string());
      else {
        const change = messages.read('account_changes', AccountChanged.decode, message.data);
        if (change) onChange(change);
        // It may be a change that this gateway needs. So all tokens are verified again.
        else {
          progress.lost();
          void consumed.close();
        }
      }
    };
    const consumed = await consumer.consume({
      idle_heartbeat: HEARTBEAT_MS,
      expires: 30_000,
      callback: deliver,
    });
    return consumed;
  };
  const subscribeAgain = () => retryUntilStopped('the stream of account changes', subscribe, service);

  /** Resolves when messages may have been lost, or when the subscription has ended. */
  const untilLoss = async (consumed: ConsumerMessages): Promise<void> => {
    for await (const { type } of consumed.status()) if (type === 'reset') return;
  };

  let consumed = await subscribeAgain();
  service.onStop('account changes', () => consumed.close());
  const follow = async (): Promise<void> => {
    for (;;) {
      await untilLoss(consumed);
      if (service.signal.aborted) return;
      service.log.warn('changes of accounts may have been lost: tokens are verified again');
      await consumed.close();
      consumed = await subscribeAgain();
    }
  };
  follow().catch((error: unknown) => {
    if (!service.signal.aborted) throw error;
  });

  const beating = setInterval(() => {
    const payload = progress.beat();
    if (payload !== undefined) nats.connection.publish(beats, payload);
    if (progress.isStuck()) void consumed.close();
  }, BEAT_EVERY_MS);
  service.onStop('beats', () => clearInterval(beating));
  return progress;
}
