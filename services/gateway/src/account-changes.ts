import { ACCOUNT_CHANGES_STREAM, AccountChanged } from '@brand-data/contracts';
import { type Nats, retryUntilStopped, type Service } from '@brand-data/runtime';
import { DeliverPolicy } from '@nats-io/jetstream';

const HEARTBEAT_MS = 500;

/** The stream of changes of keys, accounts and plans, and when it was last seen to be current. */
export interface AccountChanges {
  /** Milliseconds since the stream was last heard of: anything confirmed longer ago has arrived. */
  silentForMs(): number;
}

/**
 * Follows the stream by an ordered consumer: what is lost on the way is noticed and sent again. The server's heartbeats
 * say, while nothing changes, that nothing has.
 */
export async function followAccountChanges(
  service: Service,
  nats: Nats,
  onChange: (change: AccountChanged) => void,
): Promise<AccountChanges> {
  let heardAtMs = Number.NEGATIVE_INFINITY;
  const heard = () => {
    heardAtMs = performance.now();
  };
  const messages = await retryUntilStopped(
    'the stream of account changes',
    async () => {
      const consumer = await nats.js.consumers.get(ACCOUNT_CHANGES_STREAM, {
        deliver_policy: DeliverPolicy.New,
      });
      return consumer.consume({
        idle_heartbeat: HEARTBEAT_MS,
        expires: 30_000,
        callback: (message) => {
          heard();
          onChange(AccountChanged.decode(message.data));
        },
      });
    },
    service,
  );
  heard();
  void (async () => {
    for await (const status of messages.status()) if (status.type === 'heartbeat') heard();
  })();
  service.onStop('account changes', () => messages.close());
  return { silentForMs: () => performance.now() - heardAtMs };
}
