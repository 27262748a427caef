import {
  type AcquireRequest,
  type AcquireResponse,
  type ReportRequest,
  type ReportResponse,
  type UsageEvent,
  type UsageStream,
  usageStream,
  usageStreamOf,
} from '@brand-data/contracts';
import type { Clock, ReplicaChoice } from '@brand-data/runtime';
import { GrantBook } from './grant-book.ts';
import { ALL_RULES, type GrantRules } from './grant-rules.ts';
import { type Quota, type QuotaEvents, startQuota } from './quota.ts';
import { createUsageJournal, type JournalEvents } from './usage-journal.ts';

const PUBLISH_WITHIN_MS = 250;

/** The outside world of a gateway's quota. Each call is one attempt, which rejects without an answer in time. */
export interface QuotaPorts {
  /** Resolves once the stream has stored the message. A message id is stored once. */
  publish(
    event: UsageEvent,
    options: { stream: UsageStream; messageId: string; withinMs: number },
  ): Promise<void>;
  report(request: ReportRequest, withinMs: number, replica: ReplicaChoice): Promise<ReportResponse>;
  acquire(request: AcquireRequest, withinMs: number, replica: ReplicaChoice): Promise<AcquireResponse>;
}

/**
 * Puts a gateway's quota together: the grants in hand, their usage on its two durable paths.
 *
 * @param holder new at each start of a process: grants of an earlier process are settled, not taken over
 * @param streams how many usage streams there are; a holder's usage goes to the same one for its life
 */
export function assembleQuota(
  {
    ports,
    clock,
    holder,
    streams,
    rules = ALL_RULES,
  }: { ports: QuotaPorts; clock: Clock; holder: string; streams: number; rules?: GrantRules },
  events: QuotaEvents & JournalEvents,
): { quota: Quota; book: GrantBook } {
  const stream = usageStream(usageStreamOf(holder, streams));
  const book = new GrantBook(rules);
  const journal = createUsageJournal(
    {
      ...{ book, holder, clock },
      paths: {
        publish: (event, messageId) =>
          ports.publish(event, { stream, messageId, withinMs: PUBLISH_WITHIN_MS }),
        report: ports.report,
      },
    },
    events,
  );
  const quota = startQuota({ ...{ book, journal, clock, holder }, acquire: ports.acquire }, events);
  return { quota, book };
}
