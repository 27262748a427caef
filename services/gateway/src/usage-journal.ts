import type { ReportRequest, ReportResponse, UsageEvent } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault, type Instant } from '@brand-data/runtime';
import { type HeldGrant, type LeaseBook, usageOf } from './lease-book.ts';

const REPORT_AFTER_MS = 250;
const COMMIT_WITHIN_MS = 1_000;
const PUBLISH_AGAIN_AFTER_MS = 20;
const BATCHES_IN_FLIGHT = 2;
const GRANTS_IN_BATCH = 500;
const CELLS_IN_BATCH = 5_000;
const SEND_AGAIN_AFTER_MS = 250;

/** The two durable paths. Each call is one attempt, which rejects when it is not acknowledged in time. */
export interface UsagePaths {
  /** Once the message is stored; the same id is stored once. */
  publish(event: UsageEvent, messageId: string): Promise<void>;
  /** Once the usage is stored, or refused for grants that are closed. */
  report(request: ReportRequest, withinMs: number): Promise<ReportResponse>;
}

/** Makes usage durable, in groups: what is used while a batch is under way goes with the next. */
export interface UsageJournal {
  /** Resolves once the grant's present use is durably billed. Rejects with Fault `unavailable` after about a second. */
  commit(grant: HeldGrant): Promise<void>;
  /** Sends what is not to be waited for: a close, or permits that are given back. Tried until it is durable. */
  send(grant: HeldGrant): void;
  /** The same by report, for what somebody else is waiting for; by the stream when that fails. */
  sendAtOnce(grants: readonly HeldGrant[]): void;
  /** Resolves when nothing is left to send, or `withinMs` have passed. */
  flush(withinMs: number): Promise<void>;
}

/** What the journal tells of itself. */
export interface JournalEvents {
  committed(path: 'stream' | 'report', calls: number, tookMs: number): void;
  failed(calls: number, error: unknown): void;
}

interface Waiter {
  grant: HeldGrant;
  resolve: () => void;
  reject: (fault: Fault) => void;
}

export function createUsageJournal(
  { book, holder, clock, paths }: { book: LeaseBook; holder: string; clock: Clock; paths: UsagePaths },
  events: JournalEvents,
): UsageJournal {
  const dirty = new Set<HeldGrant>();
  let waiters: Waiter[] = [];
  let inFlight = 0;
  let resting = 0;
  let reporting = 0;
  let scheduled = false;
  let published = 0;
  /** When the stream last failed to answer in time; until it answers, the second path starts with the first. */
  let streamLate = false;

  /** At the end of the turn, so that all calls of one moment share a batch. */
  const schedule = async (): Promise<void> => {
    if (scheduled || inFlight >= BATCHES_IN_FLIGHT || dirty.size === 0) return;
    scheduled = true;
    await clock.sleep(0);
    scheduled = false;
    if (inFlight < BATCHES_IN_FLIGHT) await sendBatch();
  };

  const sendBatch = async (): Promise<void> => {
    const batch = takeBatch(dirty);
    if (batch.size === 0) return;
    const waiting = waiters.filter(({ grant }) => batch.has(grant));
    waiters = waiters.filter(({ grant }) => !batch.has(grant));
    const event: UsageEvent = { holder, usage: [...batch].map(usageOf) };
    const closing = new Set([...batch].filter((grant) => grant.closed));
    inFlight += 1;
    // While this batch is under way, the next may be collected.
    void schedule();
    const began = clock.now();
    try {
      const { path, refused } = await makeDurable(event, batch, began);
      for (const grant of batch)
        if (refused.has(grant.id)) Object.assign(grant, { refused: true, retired: true });
      for (const { grant, resolve, reject } of waiting) {
        if (refused.has(grant.id))
          reject(new Fault('unavailable', 'the permit of this call was closed meanwhile'));
        else resolve();
      }
      book.forget(new Set([...batch].filter((grant) => closing.has(grant) || grant.refused)));
      events.committed(path, waiting.length, elapsedMs(began, clock.now()));
    } catch (error) {
      events.failed(waiting.length, error);
      for (const { reject } of waiting)
        reject(new Fault('unavailable', 'usage could not be recorded in time'));
      void sendAgain(batch);
    } finally {
      inFlight -= 1;
      void schedule();
    }
  };

  /** Usage is cumulative: it goes out again with a later batch, and counts once. */
  const sendAgain = async (batch: ReadonlySet<HeldGrant>): Promise<void> => {
    resting += 1;
    await clock.sleep(SEND_AGAIN_AFTER_MS);
    resting -= 1;
    for (const grant of batch) dirty.add(grant);
    void schedule();
  };

  /** Whichever path acknowledges first; the second starts when the first is late. */
  const makeDurable = async (event: UsageEvent, batch: ReadonlySet<HeldGrant>, began: Instant) => {
    let settled = false;
    const stream = publish(event, batch, began, () => settled);
    const report = reportIfLate(event, began, stream, () => settled);
    try {
      return await Promise.any([stream, report]);
    } finally {
      settled = true;
    }
  };

  const publish = async (
    event: UsageEvent,
    batch: ReadonlySet<HeldGrant>,
    began: Instant,
    isSettled: () => boolean,
  ) => {
    published += 1;
    const messageId = `${holder}-${published}`;
    for (;;) {
      try {
        await paths.publish(event, messageId);
        break;
      } catch (error) {
        if (isSettled() || elapsedMs(began, clock.now()) >= COMMIT_WITHIN_MS) throw error;
        await clock.sleep(PUBLISH_AGAIN_AFTER_MS);
      }
    }
    streamLate = false;
    const now = clock.now();
    if (![...batch].every((grant) => book.acknowledgementCounts(grant, now))) {
      throw new Fault(
        'unavailable',
        "the acknowledgement came after the grant's end: only a report tells whether it counts",
      );
    }
    return { path: 'stream' as const, refused: new Set<string>() };
  };

  const reportIfLate = async (
    event: UsageEvent,
    began: Instant,
    stream: Promise<unknown>,
    isSettled: () => boolean,
  ) => {
    if (!streamLate) {
      await Promise.race([
        clock.sleep(REPORT_AFTER_MS),
        stream.then(
          () => {},
          () => {},
        ),
      ]);
    }
    if (isSettled()) throw new Error('the stream acknowledged');
    streamLate = true;
    const leftMs = COMMIT_WITHIN_MS - elapsedMs(began, clock.now());
    const { refusedGrantIds } = await paths.report(event, Math.max(1, leftMs));
    return { path: 'report' as const, refused: new Set(refusedGrantIds) };
  };

  return {
    commit: (grant) =>
      new Promise((resolve, reject) => {
        if (grant.refused) {
          reject(new Fault('unavailable', 'the permit of this call was closed meanwhile'));
          return;
        }
        waiters.push({ grant, resolve, reject });
        dirty.add(grant);
        void schedule();
      }),
    send: (grant) => {
      dirty.add(grant);
      void schedule();
    },
    sendAtOnce: async (grants) => {
      if (grants.length === 0) return;
      const closed = new Set(grants.filter((grant) => grant.closed));
      reporting += 1;
      try {
        await paths.report({ holder, usage: grants.map(usageOf) }, COMMIT_WITHIN_MS);
        book.forget(closed);
      } catch {
        for (const grant of grants) dirty.add(grant);
        void schedule();
      } finally {
        reporting -= 1;
      }
    },
    flush: async (withinMs) => {
      const began = clock.now();
      while (dirty.size + inFlight + resting + reporting > 0 && elapsedMs(began, clock.now()) < withinMs)
        await clock.sleep(10);
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
