import { randomUUID } from 'node:crypto';
import {
  ACCOUNT_CHANGES_CONSUMER,
  ACCOUNT_CHANGES_DELIVERY_SUBJECT,
  ACCOUNT_CHANGES_STREAM,
  AccountChanged,
  accountBeatsSubject,
} from '@brand-data/contracts';
import { type Nats, readAtScrape, type Service } from '@brand-data/runtime';
import { Gauge } from 'prom-client';
import type { Messages } from '../upstream/messages.ts';
import type { StreamProgress } from './stream-progress.ts';

const BEAT_EVERY_MS = 300;
const ANY_BEATS = accountBeatsSubject('');
/** The subject for replies to a delivery, of which no client can make one: `$JS.ACK`, maybe domain and account, and these parts. */
const DELIVERY = new RegExp(
  `^\\$JS\\.ACK\\.(?:[^.]+\\.[^.]+\\.)?${ACCOUNT_CHANGES_STREAM}\\.${ACCOUNT_CHANGES_CONSUMER}\\.\\d+\\.\\d+\\.(\\d+)\\.`,
);

/**
 * Follows the account changes that accounts' consumer delivers to all gateways, and publishes beats into their stream.
 *
 * @param onFollow called with the first delivery, and with the first one after a loss: from then on no change is missed
 */
export function followAccountChanges(
  service: Service,
  nats: Nats,
  progress: StreamProgress,
  messages: Messages,
  { onFollow, onChange }: { onFollow: () => Promise<void>; onChange: (change: AccountChanged) => void },
): void {
  const beats = accountBeatsSubject(randomUUID());
  nats.onReconnect(() => progress.lost());
  nats.connection.subscribe(ACCOUNT_CHANGES_DELIVERY_SUBJECT, {
    callback: (_error, message) => {
      const [, sequence] = DELIVERY.exec(message.reply ?? '') ?? [];
      // NATS itself can be made to send an answer here, but not with the number of a delivery.
      if (sequence === undefined) return;
      if (progress.arrived(Number(sequence))) {
        service.log.info('account changes are followed from now on: tokens are verified again');
        void onFollow();
      }
      if (message.subject === beats) return progress.returned(message.string());
      if (message.subject.startsWith(ANY_BEATS)) return;
      const change = messages.read('account_changes', AccountChanged.decode, message.data);
      if (change) onChange(change);
      // It may be a change that this gateway needs, so all tokens are verified again.
      else progress.lost();
    },
  });
  const beating = setInterval(() => {
    const payload = progress.beat();
    if (payload !== undefined) nats.connection.publish(beats, payload);
  }, BEAT_EVERY_MS);
  service.onStop('beats', () => clearInterval(beating));
  const age = {
    name: 'gateway_account_changes_age_seconds',
    help: 'Seconds since the gateway sent the newest beat that has come back with the account changes; 0 while it sends none',
  };
  readAtScrape(Gauge, service.metrics, age, () => [[{}, progress.ageMs / 1000]]);
}
