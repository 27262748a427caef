import {
  createHolderIdentity,
  type GrantUsage,
  HOLDER_PROOF_METADATA,
  type HolderIdentity,
  type MeteringServiceClient,
  RECALLS_SUBJECT,
  Recall,
  USAGE_SIGNATURE_HEADER,
  UsageEvent,
  usageStream,
  usageStreamOf,
} from '@brand-data/contracts';
import {
  activeSpanContext,
  callUnary,
  inBatchSpan,
  type Nats,
  retryUntilStopped,
  type Service,
  type SpanContext,
  systemClock,
  type Tracer,
} from '@brand-data/runtime';
import type { Messages } from '../upstream/messages.ts';
import type { Acquire } from './acquirer.ts';
import { GrantBook } from './grant-book.ts';
import { Quota } from './quota.ts';
import { quotaMetrics } from './quota-metrics.ts';
import { UsageJournal, type UsagePaths } from './usage-journal.ts';

/** 132 bits of a signature. */
const UNFORESEEN_LENGTH = 22;
/** OpenTelemetry drops the links of a span beyond this number. */
const MOST_LINKS = 128;

/** Starts the quota on the real clock, NATS and metering. The process publishes to one of the `streams` for all its life. */
export function connectQuota(
  service: Service,
  nats: Nats,
  metering: MeteringServiceClient,
  streams: number,
): Quota {
  const identity = createHolderIdentity();
  const holder = identity.name;
  const clock = systemClock;
  const proof = () => ({ [HOLDER_PROOF_METADATA]: identity.proofAt(clock.now().wallMs) });
  const acquire: Acquire = (request, deadlineMs, replica) =>
    callUnary(metering, metering.acquire, request, { deadlineMs, replica, metadata: proof() });
  const paths: UsagePaths = {
    publish: natsPublish(nats, identity, streams),
    report: (request, deadlineMs, replica) =>
      callUnary(metering, metering.report, request, { deadlineMs, replica, metadata: proof() }),
  };
  const traced = service.tracer && tracedPaths(paths, service.tracer);
  const book = new GrantBook();
  const events = { ...quotaMetrics(service, book), waits: () => traced?.wait() };
  const journal = new UsageJournal({ book, holder, clock, paths: traced ?? paths, events });
  const quota = new Quota({ book, journal, acquire, clock, holder, events });
  service.onStop('quota', () => quota.stop());
  return quota;
}

function natsPublish(nats: Nats, identity: HolderIdentity, streams: number): UsagePaths['publish'] {
  const { name: holder } = identity;
  const subject = usageStream(usageStreamOf(holder, streams)).subjectOf(holder);
  return async (event, messageId, timeout) => {
    const payload = UsageEvent.encode(event).finish();
    const signature = identity.sign(payload);
    await nats.publish('usage', subject, payload, {
      // The stream drops a message whose id it has seen. Therefore the id must be unpredictable to every other publisher.
      msgID: `${messageId}-${signature.slice(0, UNFORESEEN_LENGTH)}`,
      timeout,
      headers: { [USAGE_SIGNATURE_HEADER]: signature },
    });
  };
}

/**
 * Sends each usage message in a span that links to the spans of the calls whose usage the message contains. `wait` notes that the
 * current call waits for the next usage message.
 */
function tracedPaths({ publish, report }: UsagePaths, tracer: Tracer): UsagePaths & { wait(): void } {
  let waiting: SpanContext[] = [];
  /** The spans that the first publish of a usage took. */
  const published = new WeakMap<GrantUsage, readonly SpanContext[]>();
  const publishedBefore = ({ usage: [first] }: { usage: readonly GrantUsage[] }) =>
    first && published.get(first);
  const takeWaiting = (usage: readonly GrantUsage[]) => {
    const spanContexts = waiting;
    waiting = [];
    for (const each of usage) published.set(each, spanContexts);
    return spanContexts;
  };
  return {
    wait: () => {
      const spanContext = waiting.length < MOST_LINKS ? activeSpanContext() : undefined;
      if (spanContext) waiting.push(spanContext);
    },
    publish: (event, messageId, withinMs) => {
      const spanContexts = publishedBefore(event) ?? takeWaiting(event.usage);
      return inBatchSpan(tracer, 'record usage', { spanContexts }, () => publish(event, messageId, withinMs));
    },
    report: (request, withinMs, replica) => {
      const spanContexts = publishedBefore(request) ?? [];
      return inBatchSpan(tracer, 'report usage', { spanContexts }, () => report(request, withinMs, replica));
    },
  };
}

/** Subscribes to metering's recalls. On a recall the quota returns the permits that this gateway does not need. */
export function followRecalls(messages: Messages, quota: Pick<Quota, 'recall'>): void {
  messages.follow('recalls', RECALLS_SUBJECT, Recall.decode, (recall) => quota.recall(recall));
}

/** Waits until metering has created the usage streams. The gateway is not ready before that. */
export async function waitForUsageStreams(service: Service, nats: Nats, streams: number): Promise<void> {
  for (let number = 1; number <= streams; number++) {
    const { name } = usageStream(number);
    await retryUntilStopped(`the stream ${name}`, () => nats.manager.streams.info(name), service);
  }
}
