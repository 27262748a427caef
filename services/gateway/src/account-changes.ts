import { ACCOUNT_CHANGES_STREAM, AccountChanged } from '@brand-data/contracts';
import {
  type Clock,
  elapsedMs,
  type Instant,
  type Nats,
  retryUntilStopped,
  type Service,
} from '@brand-data/runtime';
import { type ConsumerMessages, DeliverPolicy } from '@nats-io/jetstream';

const HEARTBEAT_MS = 500;
const SILENCE_MS = 1_000;

/** The stream of changes of keys, accounts and plans. */
export interface AccountChanges {
  /** Whether all changes that were confirmed since then have arrived, but for those of the last second. */
  allArrivedSince(since: Instant): boolean;
}

/** How long a stream with heartbeats has been heard without a break. */
export interface Continuity extends AccountChanges {
  heard(): void;
  /** Something may have been lost: what is heard next begins anew. */
  broken(): void;
}

/** A second of silence is a break too. */
export function createContinuity(clock: Pick<Clock, 'now'>): Continuity {
  let currentSince: Instant | undefined;
  let heardAt: Instant | undefined;
  const isCurrent = (now: Instant) => heardAt !== undefined && elapsedMs(heardAt, now) < SILENCE_MS;
  return {
    heard: () => {
      const now = clock.now();
      if (!isCurrent(now)) currentSince = now;
      heardAt = now;
    },
    broken: () => {
      heardAt = undefined;
    },
    allArrivedSince: (since) =>
      currentSince !== undefined && isCurrent(clock.now()) && since.monotonicMs > currentSince.monotonicMs,
  };
}

/**
 * Follows the stream by an ordered consumer. The server's heartbeats say, while nothing changes, that nothing has, and
 * how much was sent. After a loss it follows anew what is published from then on: what was known before is not vouched
 * for any more, and so need not be sent again.
 */
export async function followAccountChanges(
  service: Service,
  nats: Nats,
  clock: Pick<Clock, 'now'>,
  onChange: (change: AccountChanged) => void,
): Promise<AccountChanges> {
  const continuity = createContinuity(clock);
  let delivered = 0;

  const subscribe = async (): Promise<ConsumerMessages> => {
    const consumer = await nats.js.consumers.get(ACCOUNT_CHANGES_STREAM, {
      deliver_policy: DeliverPolicy.New,
    });
    delivered = 0;
    continuity.heard();
    return consumer.consume({
      idle_heartbeat: HEARTBEAT_MS,
      expires: 30_000,
      callback: (message) => {
        delivered = message.info.deliverySequence;
        continuity.heard();
        onChange(AccountChanged.decode(message.data));
      },
    });
  };
  const subscribeAgain = () => retryUntilStopped('the stream of account changes', subscribe, service);

  /** Returns when something was lost on the way, or the subscription has ended. */
  const untilLoss = async (messages: ConsumerMessages): Promise<void> => {
    for await (const status of messages.status()) {
      if (status.type === 'reset') return;
      if (status.type !== 'heartbeat') continue;
      if (status.lastConsumerSequence > delivered) return;
      continuity.heard();
    }
  };

  let messages = await subscribeAgain();
  service.onStop('account changes', () => messages.close());
  const follow = async (): Promise<void> => {
    for (;;) {
      await untilLoss(messages);
      if (service.signal.aborted) return;
      service.log.warn('changes of accounts may have been lost: tokens are verified again');
      continuity.broken();
      await messages.close();
      messages = await subscribeAgain();
    }
  };
  follow().catch((error: unknown) => {
    if (!service.signal.aborted) throw error;
  });
  // What was on its way to a lost connection is gone, though the consumer goes on.
  void (async () => {
    for await (const { type } of nats.connection.status()) {
      if (type === 'disconnect' || type === 'reconnect') continuity.broken();
    }
  })();
  return continuity;
}
