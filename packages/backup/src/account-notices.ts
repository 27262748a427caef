import { ACCOUNT_CHANGES_STREAM, ACCOUNT_CHANGES_SUBJECTS, AccountChanged } from '@brand-data/contracts';
import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import type { OpenNats } from './servers.ts';
import { unlessMissing } from './usage-messages.ts';

/** How long the stream keeps a notice. */
const NOTICES_KEPT_MS = 60 * 60_000;
const MESSAGES_AT_ONCE = 500;
const ANSWERED_WITHIN_MS = 2_000;
const MOST_NOTICES = 100_000;
/** MongoDB's clock and that of NATS may differ by this time. */
const CLOCKS_APART_MS = 60_000;

/** Notices of what operators have changed in accounts. They say what was changed, and not how. */
export interface AccountNotices {
  /** Whether these are all notices since the copy. NATS keeps a notice for an hour. */
  complete: boolean;
  notices: AccountChanged[];
}

/** Reads the notices since `copiedAt`, and some from shortly before it. */
export async function readAccountNotices(
  nats: OpenNats,
  copiedAt: Date,
  signal: AbortSignal,
): Promise<AccountNotices> {
  const info = await nats.manager.streams.info(ACCOUNT_CHANGES_STREAM).catch(unlessMissing);
  if (info === undefined) return { complete: false, notices: [] };
  const fromMs = copiedAt.getTime() - CLOCKS_APART_MS;
  const isKept =
    new Date(info.created).getTime() <= copiedAt.getTime() && Date.now() - fromMs < NOTICES_KEPT_MS;
  const consumer = await jetstream(nats.connection).consumers.get(ACCOUNT_CHANGES_STREAM, {
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: new Date(fromMs).toISOString(),
    filter_subjects: [ACCOUNT_CHANGES_SUBJECTS],
  });
  const notices: AccountChanged[] = [];
  for (let count = 1; count > 0 && notices.length < MOST_NOTICES; ) {
    signal.throwIfAborted();
    count = 0;
    const messages = await consumer.fetch({ max_messages: MESSAGES_AT_ONCE, expires: ANSWERED_WITHIN_MS });
    for await (const { data } of messages) {
      count += 1;
      notices.push(AccountChanged.decode(data));
    }
  }
  return { complete: isKept && notices.length < MOST_NOTICES, notices };
}
