import {
  createHolderIdentity,
  type GrantUsage,
  HOLDER_PROOF_METADATA,
  type HolderIdentity,
  type MeteringServiceClient,
  RECALLS_SUBJECT,
  Recall,
  USAGE_NEWS_SUBJECT,
  USAGE_SIGNATURE_HEADER,
  UsageEvent,
  UsageNews,
  usageStream,
  usageStreamOf,
} from '@brand-data/contracts';
import {
  activeSpanContext,
  callUnary,
  connectedReplicas,
  countBy,
  inBatchSpan,
  type Nats,
  readAtScrape,
  retryUntilStopped,
  type Service,
  type SpanContext,
  systemClock,
  type Tracer,
} from '@brand-data/runtime';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Messages } from '../upstream/messages.ts';
import type { Acquire, QuotaEvents } from './acquirer.ts';
import { GrantBook } from './grant-book.ts';
import { Quota } from './quota.ts';
import { type JournalEvents, UsageJournal, type UsagePaths } from './usage-journal.ts';

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
  const book = new GrantBook(() => connectedReplicas(metering));
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

/** Subscribes to metering's messages. On a recall the quota returns the permits that this gateway does not need. */
export function followMetering(messages: Messages, quota: Pick<Quota, 'recall' | 'heard'>): void {
  messages.follow('usage_news', USAGE_NEWS_SUBJECT, UsageNews.decode, (news) => quota.heard(news));
  messages.follow('recalls', RECALLS_SUBJECT, Recall.decode, (recall) => quota.recall(recall));
}

/** Waits until metering has created the usage streams. The gateway is not ready before that. */
export async function waitForUsageStreams(service: Service, nats: Nats, streams: number): Promise<void> {
  for (let number = 1; number <= streams; number++) {
    const { name } = usageStream(number);
    await retryUntilStopped(`the stream ${name}`, () => nats.manager.streams.info(name), service);
  }
}

/** Registers the metrics of the quota. Returns callbacks that count its events and log usage that did not become durable in time. */
function quotaMetrics(
  { log, metrics }: Pick<Service, 'log' | 'metrics'>,
  book: GrantBook,
): QuotaEvents & Omit<JournalEvents, 'waits'> {
  const registers = [metrics];
  const batchCalls = new Histogram({
    name: 'gateway_usage_batch_calls',
    help: 'Calls whose usage was acknowledged in one batch',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    registers,
  });
  const commitSeconds = new Histogram({
    name: 'gateway_usage_commit_duration_seconds',
    help: 'Seconds until a batch of usage was durable, by path: "stream" (NATS) or "report" (directly to metering)',
    labelNames: ['path'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
    registers,
  });
  // These series start at zero. Without them Prometheus would not see the first commit as an increase.
  for (const path of ['stream', 'report']) commitSeconds.zero({ path });
  const commitFailures = new Counter({
    name: 'gateway_usage_commit_failed_calls_total',
    help: 'Calls whose usage neither the stream nor metering confirmed in time. They got 503, and their permits stay used',
    registers,
  });
  const asked = countBy(metrics, {
    name: 'gateway_quota_acquires_total',
    help: 'Requests for grants, by the answer of metering; "unavailable" if there was none',
    label: 'outcome',
    values: ['grant', 'wait', 'exhausted', 'stale', 'unavailable'],
  });
  const waits = new Counter({
    name: 'gateway_quota_waited_calls_total',
    help: 'Calls that waited for a grant because the gateway held no permit for them',
    registers,
  });
  const recalledPermits = new Counter({
    name: 'gateway_quota_recalled_permits_total',
    help: 'Permits that the gateway returned because calls waited at other gateways',
    registers,
  });
  const grants = { name: 'gateway_quota_grants', help: 'Grants that the gateway holds now' };
  readAtScrape(Gauge, metrics, grants, () => [[{}, book.size.grants]]);
  const permits = {
    name: 'gateway_quota_permits',
    help: 'Permits that the gateway holds now and that are neither used nor reserved',
  };
  readAtScrape(Gauge, metrics, permits, () => [[{}, book.size.permits]]);
  return {
    committed: (path, calls, tookMs) => {
      batchCalls.observe(calls);
      commitSeconds.observe({ path }, tookMs / 1000);
    },
    failed: (calls, err) => {
      commitFailures.inc(calls);
      log.warn({ err, calls }, 'usage could not be made durable in time');
    },
    asked,
    waited: () => waits.inc(),
    recalled: (permits) => recalledPermits.inc(permits),
  };
}

/** The calls that callers see as charged, so that operators can compare them with metering's bills. */
export interface ChargedCalls {
  /** Their usage is durable, so metering bills them. */
  answered: number;
  /** The gateway answers them with 503, and metering may bill them or not. */
  unsure: number;
}

/** Registers the counter of charged calls. It is set at each scrape, so that a call only adds to a number. */
export function countCharged({ metrics }: Pick<Service, 'metrics'>): ChargedCalls {
  const charged: ChargedCalls = { answered: 0, unsure: 0 };
  const metric = {
    name: 'gateway_charged_calls_total',
    help: 'Calls whose answer said that they are charged. "answered" ones are billed. "unsure" ones (503) may be billed or not',
    labelNames: ['certainty'],
  };
  readAtScrape(Counter, metrics, metric, () =>
    Object.entries(charged).map(([certainty, calls]) => [{ certainty }, calls]),
  );
  return charged;
}
