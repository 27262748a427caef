import { setTimeout as delay } from 'node:timers/promises';
import { type MeteringServiceClient, UsageEvent, usageSubject } from '@brand-data/contracts';
import { callUnary, Fault, type Nats, type Service } from '@brand-data/runtime';
import { Histogram } from 'prom-client';
import { type HeldGrant, usageOf } from './lease-book.ts';

const PUBLISH_TIMEOUT_MS = 250;
const COMMIT_WITHIN_MS = 1_000;
const BATCHES_IN_FLIGHT = 2;
const GRANTS_IN_BATCH = 500;
const CELLS_IN_BATCH = 5_000;
const RETRY_AFTER_MS = 250;

/** Makes usage durable, in groups: what is used while a batch is under way goes with the next. */
export interface UsageJournal {
  /** Resolves once the grant's present use is durably billed. Rejects with Fault `unavailable` after about a second. */
  commit(grant: HeldGrant): Promise<void>;
  /** The same for the close of a grant, which is tried until it is durable. */
  close(grant: HeldGrant): void;
  /** Resolves when nothing is left to send, or `withinMs` have passed. */
  flush(withinMs: number): Promise<void>;
}

interface Waiter {
  grant: HeldGrant;
  resolve: () => void;
  reject: (fault: Fault) => void;
}

export function createUsageJournal(
  service: Service,
  { nats, metering, holder }: { nats: Nats; metering: MeteringServiceClient; holder: string },
  onClosed: (grants: ReadonlySet<HeldGrant>) => void,
): UsageJournal {
  const batchSize = new Histogram({
    name: 'gateway_usage_batch_calls',
    help: 'Calls whose usage went out in one batch',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    registers: [service.metrics],
  });
  const dirty = new Set<HeldGrant>();
  let waiters: Waiter[] = [];
  let inFlight = 0;
  let retrying = 0;
  let scheduled = false;
  let published = 0;

  /** At the end of the turn, so that all calls of one moment share a batch. */
  const schedule = () => {
    if (scheduled || inFlight >= BATCHES_IN_FLIGHT || dirty.size === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void sendBatch();
    });
  };

  const sendBatch = async (): Promise<void> => {
    const batch = takeBatch(dirty);
    if (batch.size === 0) return;
    const waiting = waiters.filter(({ grant }) => batch.has(grant));
    waiters = waiters.filter(({ grant }) => !batch.has(grant));
    const event: UsageEvent = { holder, usage: [...batch].map(usageOf) };
    const closing = new Set([...batch].filter((grant) => grant.closed));
    batchSize.observe(waiting.length);
    inFlight += 1;
    try {
      const refused = await makeDurable(event);
      for (const { grant, resolve, reject } of waiting) {
        if (refused.has(grant.id))
          reject(new Fault('unavailable', 'the permit of this call was closed meanwhile'));
        else resolve();
      }
      onClosed(closing);
    } catch (err) {
      service.log.warn({ err, calls: waiting.length }, 'usage could not be made durable');
      for (const { reject } of waiting)
        reject(new Fault('unavailable', 'usage could not be recorded in time'));
      // Usage is cumulative: it goes out again with the next batch, and counts once.
      retrying += 1;
      setTimeout(() => {
        retrying -= 1;
        for (const grant of batch) dirty.add(grant);
        schedule();
      }, RETRY_AFTER_MS);
    } finally {
      inFlight -= 1;
      schedule();
    }
  };

  /** Whichever path acknowledges first; the second starts when the first is late. Answers the refused grants' ids. */
  const makeDurable = async (event: UsageEvent): Promise<ReadonlySet<string>> => {
    const settled = new AbortController();
    const deadlineMs = Date.now() + COMMIT_WITHIN_MS;
    try {
      return await Promise.any([
        publish(event, deadlineMs, settled.signal),
        reportIfLate(event, deadlineMs, settled.signal),
      ]);
    } finally {
      settled.abort();
    }
  };

  const publish = async (event: UsageEvent, deadlineMs: number, settled: AbortSignal) => {
    published += 1;
    const msgID = `${holder}-${published}`;
    const payload = UsageEvent.encode(event).finish();
    for (;;) {
      try {
        await nats.js.publish(usageSubject(holder), payload, { msgID, timeout: PUBLISH_TIMEOUT_MS });
        return new Set<string>();
      } catch (error) {
        if (settled.aborted || Date.now() >= deadlineMs) throw error;
      }
      await delay(20);
    }
  };

  const reportIfLate = async (event: UsageEvent, deadlineMs: number, settled: AbortSignal) => {
    await delay(PUBLISH_TIMEOUT_MS, undefined, { signal: settled });
    const { refusedGrantIds } = await callUnary(metering, metering.report, event, {
      deadlineMs: deadlineMs - Date.now(),
    });
    return new Set(refusedGrantIds);
  };

  return {
    commit: (grant) =>
      new Promise((resolve, reject) => {
        waiters.push({ grant, resolve, reject });
        dirty.add(grant);
        schedule();
      }),
    close: (grant) => {
      dirty.add(grant);
      schedule();
    },
    flush: async (withinMs) => {
      const deadlineMs = Date.now() + withinMs;
      while (dirty.size + inFlight + retrying > 0 && Date.now() < deadlineMs) await delay(10);
    },
  };
}

/** Takes from the dirty grants as much as one message may hold. */
function takeBatch(dirty: Set<HeldGrant>): Set<HeldGrant> {
  const batch = new Set<HeldGrant>();
  let cells = 0;
  for (const grant of dirty) {
    if (batch.size >= GRANTS_IN_BATCH || (batch.size > 0 && cells + grant.cells.size > CELLS_IN_BATCH)) break;
    batch.add(grant);
    cells += grant.cells.size;
  }
  for (const grant of batch) dirty.delete(grant);
  return batch;
}
