import {
  createHolderIdentity,
  HOLDER_PROOF_METADATA,
  type MeteringServiceClient,
  RECALLS_SUBJECT,
  Recall,
  USAGE_SIGNATURE_HEADER,
  UsageEvent,
  usageStream,
} from '@brand-data/contracts';
import {
  callUnary,
  inBatchSpan,
  type Nats,
  retryUntilStopped,
  type Service,
  systemClock,
} from '@brand-data/runtime';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Messages } from '../upstream/messages.ts';
import { assembleQuota } from './assemble-quota.ts';
import { GrantBook } from './grant-book.ts';
import type { Quota } from './quota.ts';
import { createUsageSpanContexts } from './usage-span-contexts.ts';

/** 132 bits of a signature. */
const UNFORESEEN_LENGTH = 22;

/**
 * Connects the quota to the real clock, NATS and metering. Registers its metrics, and stops it with the service.
 *
 * @param streams the number of usage streams
 */
export function connectQuota(
  service: Service,
  nats: Nats,
  metering: MeteringServiceClient,
  streams: number,
): Quota {
  const { log, metrics, tracer } = service;
  const registers = [metrics];
  const identity = createHolderIdentity();
  const holder = identity.name;
  const proof = () => ({ [HOLDER_PROOF_METADATA]: identity.proofAt(systemClock.now().wallMs) });

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
  const acquires = new Counter({
    name: 'gateway_quota_acquires_total',
    help: 'Requests for grants, by the answer of metering; "unavailable" if there was none',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['grant', 'wait', 'exhausted', 'stale', 'unavailable']) acquires.inc({ outcome }, 0);
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
  const waitingSpans = tracer && createUsageSpanContexts();
  const book = new GrantBook();
  const quota = assembleQuota(
    {
      book,
      clock: systemClock,
      holder,
      streams,
      ports: {
        publish: async (event, { stream, messageId, withinMs }) => {
          const payload = UsageEvent.encode(event).finish();
          const signature = identity.sign(payload);
          const options = {
            // The stream drops a message whose id it has seen. So nobody else may be able to foresee the id.
            msgID: `${messageId}-${signature.slice(0, UNFORESEEN_LENGTH)}`,
            timeout: withinMs,
            headers: { [USAGE_SIGNATURE_HEADER]: signature },
          };
          await inBatchSpan(
            tracer,
            'record usage',
            { spanContexts: waitingSpans?.take(event.usage) ?? [] },
            () => nats.publish('usage', stream.subjectOf(holder), payload, options),
          );
        },
        report: (request, deadlineMs, replica) =>
          inBatchSpan(tracer, 'report usage', { spanContexts: waitingSpans?.of(request.usage) ?? [] }, () =>
            callUnary(metering, metering.report, request, { deadlineMs, replica, metadata: proof() }),
          ),
        acquire: (request, deadlineMs, replica) =>
          callUnary(metering, metering.acquire, request, { deadlineMs, replica, metadata: proof() }),
      },
    },
    {
      committed: (path, calls, tookMs) => {
        batchCalls.observe(calls);
        commitSeconds.observe({ path }, tookMs / 1000);
      },
      failed: (calls, err) => {
        commitFailures.inc(calls);
        log.warn({ err, calls }, 'usage could not be made durable in time');
      },
      asked: (outcome) => acquires.inc({ outcome }),
      waited: () => waits.inc(),
      recalled: (permits) => recalledPermits.inc(permits),
    },
  );
  new Gauge({
    name: 'gateway_quota_grants',
    help: 'Grants that the gateway holds now',
    registers,
    collect() {
      this.set(book.size.grants);
    },
  });
  new Gauge({
    name: 'gateway_quota_permits',
    help: 'Permits that the gateway holds now and that are neither used nor reserved',
    registers,
    collect() {
      this.set(book.size.permits);
    },
  });
  service.onStop('quota', () => quota.stop());
  if (!waitingSpans) return quota;
  return {
    ...quota,
    commit: (permit) => {
      waitingSpans.wait();
      return quota.commit(permit);
    },
  };
}

/** Subscribes to metering's recalls. On a recall the quota returns the permits that this gateway does not need. */
export function followRecalls(messages: Messages, { recall }: Pick<Quota, 'recall'>): void {
  messages.follow('recalls', RECALLS_SUBJECT, Recall.decode, recall);
}

/** Waits until metering has created the usage streams. The gateway is not ready before that. */
export async function waitForUsageStreams(service: Service, nats: Nats, streams: number): Promise<void> {
  for (let number = 1; number <= streams; number++) {
    const { name } = usageStream(number);
    await retryUntilStopped(`the stream ${name}`, () => nats.manager.streams.info(name), service);
  }
}
