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

/** What operators have changed in accounts since a copy, as far as NATS still knows. */
export interface ChangesSince {
  /** Whether these are all changes since the copy. NATS keeps the notice of a change for an hour. */
  complete: boolean;
  keys: string[];
  accounts: string[];
  plans: string[];
}

/** Reads the notices of changes after this one, which was made before `at`. They say what was changed, and not how. */
export async function changesSince(
  nats: OpenNats,
  { revision, at }: { revision: number; at: Date },
  signal: AbortSignal,
): Promise<ChangesSince> {
  const info = await nats.manager.streams.info(ACCOUNT_CHANGES_STREAM).catch(unlessMissing);
  if (info === undefined) return { complete: false, keys: [], accounts: [], plans: [] };
  const fromMs = at.getTime() - CLOCKS_APART_MS;
  const isKept = new Date(info.created).getTime() <= at.getTime() && Date.now() - fromMs < NOTICES_KEPT_MS;
  const consumer = await jetstream(nats.connection).consumers.get(ACCOUNT_CHANGES_STREAM, {
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: new Date(fromMs).toISOString(),
    filter_subjects: [ACCOUNT_CHANGES_SUBJECTS],
  });
  const found = { keyId: new Set<string>(), accountId: new Set<string>(), plan: new Set<string>() };
  let read = 0;
  for (let count = 1; count > 0 && read < MOST_NOTICES; read += count) {
    signal.throwIfAborted();
    count = 0;
    const messages = await consumer.fetch({ max_messages: MESSAGES_AT_ONCE, expires: ANSWERED_WITHIN_MS });
    for await (const { data } of messages) {
      count += 1;
      const { subject, revision: changed } = AccountChanged.decode(data);
      if (subject && changed > revision) found[subject.$case].add(subject.value);
    }
  }
  return {
    complete: isKept && read < MOST_NOTICES,
    keys: [...found.keyId].toSorted(),
    accounts: [...found.accountId].toSorted(),
    plans: [...found.plan].toSorted(),
  };
}
