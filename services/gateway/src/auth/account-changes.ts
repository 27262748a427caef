import { randomUUID } from 'node:crypto';
import {
  ACCOUNT_CHANGES_STREAM,
  ACCOUNT_CHANGES_SUBJECTS,
  AccountChanged,
  accountBeatsSubject,
} from '@brand-data/contracts';
import { type Nats, retryUntilStopped, type Service } from '@brand-data/runtime';
import { type ConsumerMessages, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import type { Messages } from '../upstream/messages.ts';
import type { StreamProgress } from './stream-progress.ts';

const BEAT_EVERY_MS = 300;
const HEARTBEAT_MS = 500;

/**
 * Follows the stream of account changes with an ordered consumer, and publishes beats into the stream. If messages may be lost, it
 * creates another consumer, which starts at the stream's end: all tokens that were verified before are verified again.
 *
 * @param onFollow called with each consumer, from which on no change is missed
 */
export async function followAccountChanges(
  service: Service,
  nats: Nats,
  progress: StreamProgress,
  messages: Messages,
  { onFollow, onChange }: { onFollow: () => Promise<void>; onChange: (change: AccountChanged) => void },
): Promise<void> {
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
        // It may be a change that this gateway needs, so all tokens are verified again.
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
    void onFollow();
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
}
