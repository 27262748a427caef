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
import type { GrantBook } from './grant-book.ts';
import { type Quota, type QuotaEvents, startQuota } from './quota.ts';
import { createUsageJournal, type JournalEvents } from './usage-journal.ts';

const PUBLISH_WITHIN_MS = 250;

/** The requests that a gateway's quota sends. Each call is one attempt, and rejects if no answer comes in time. */
export interface QuotaPorts {
  /** Resolves once the stream has stored the message. The stream stores only the first message with a message id. */
  publish(
    event: UsageEvent,
    options: { stream: UsageStream; messageId: string; withinMs: number },
  ): Promise<void>;
  report(request: ReportRequest, withinMs: number, replica: ReplicaChoice): Promise<ReportResponse>;
  acquire(request: AcquireRequest, withinMs: number, replica: ReplicaChoice): Promise<AcquireResponse>;
}

/**
 * Connects the parts of a gateway's quota: the grant book, the usage journal and the requests to metering.
 *
 * @param holder a new name at each start of the process, which does not take over the grants of an earlier process
 * @param streams the number of usage streams; a holder publishes to the same stream for all its life
 */
export function assembleQuota(
  {
    ports,
    clock,
    holder,
    streams,
    book,
  }: { ports: QuotaPorts; clock: Clock; holder: string; streams: number; book: GrantBook },
  events: QuotaEvents & JournalEvents,
): Quota {
  const stream = usageStream(usageStreamOf(holder, streams));
  const journal = createUsageJournal(
    {
      book,
      holder,
      clock,
      paths: {
        publish: (event, messageId) =>
          ports.publish(event, { stream, messageId, withinMs: PUBLISH_WITHIN_MS }),
        report: ports.report,
      },
    },
    events,
  );
  return startQuota({ book, journal, clock, holder, acquire: ports.acquire }, events);
}
