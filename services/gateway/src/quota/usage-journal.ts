import type { GrantUsage, ReportRequest, ReportResponse, UsageEvent } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault, type Instant, type ReplicaChoice } from '@brand-data/runtime';
import type { GrantBook } from './grant-book.ts';
import { hedge, type ReplicaPreference } from './hedge.ts';
import { cellsToReport, type HeldGrant, markDurable, snapshotOf, type UsageSnapshot } from './held-grant.ts';

const REPORT_AFTER_MS = 250;
const COMMIT_WITHIN_MS = 1_000;
const PUBLISH_AGAIN_AFTER_MS = 20;
const BATCHES_IN_FLIGHT = 2;
/** The most that a batch holds: metering refuses requests of more than 256 KiB. */
export const MOST_IN_BATCH = { grants: 500, cells: 3_000 } as const;
const SEND_AGAIN_AFTER_MS = 250;

/** The two paths on which usage becomes durable. Each call is one attempt, and rejects if no acknowledgement comes in time. */
export interface UsagePaths {
  /** Resolves once the stream has stored the message. The stream stores only the first message with a message id. */
  publish(event: UsageEvent, messageId: string): Promise<void>;
  /** Resolves once metering has answered for each grant: it has stored the usage, refused it, or cannot store it now. */
  report(request: ReportRequest, withinMs: number, replica: ReplicaChoice): Promise<ReportResponse>;
}

/** Makes usage durable by group commit: calls that end while a batch is under way share the next batch. */
export interface UsageJournal {
  /**
   * Called once for each used permit. Resolves once the grant's current usage is durable. Rejects with Fault `unavailable` after
   * about a second.
   */
  commit(grant: HeldGrant): Promise<void>;
  /** Sends the grant's usage without a waiting call, for a close or returned permits. Repeats this until the usage is durable. */
  send(grant: HeldGrant): void;
  /**
   * Sends the grants' usage to metering at once, because calls wait for permits of these grants. Resolves to false if metering did
   * not store all of it. The usage that it did not store then goes through the stream too.
   */
  reportAtOnce(grants: readonly HeldGrant[], preference: ReplicaPreference): Promise<boolean>;
  /** Resolves when no usage is left to send, or when `withinMs` have passed. */
  flush(withinMs: number): Promise<void>;
}

/** For metrics and the log. */
export interface JournalEvents {
  committed(path: 'stream' | 'report', calls: number, tookMs: number): void;
  failed(calls: number, error: unknown): void;
}

/** The calls of one grant that wait for the same batch. They share a promise. */
interface Waiting {
  calls: number;
  durable: Promise<void>;
  resolve: () => void;
  reject: (fault: Fault) => void;
}

/** The usage that one message contains. */
interface Batch {
  snapshots: ReadonlyMap<HeldGrant, UsageSnapshot>;
  /** Grants of this batch for which no path has confirmed the usage yet. */
  unsettled: Set<HeldGrant>;
  waiting: ReadonlyMap<HeldGrant, Waiting>;
  began: Instant;
}

export function createUsageJournal(
  { book, holder, clock, paths }: { book: GrantBook; holder: string; clock: Clock; paths: UsagePaths },
  events: JournalEvents,
): UsageJournal {
  const dirty = new Set<HeldGrant>();
  const waitingFor = new Map<HeldGrant, Waiting>();
  let inFlight = 0;
  let resting = 0;
  let reporting = 0;
  let scheduled = false;
  let published = 0;
  /** Whether the stream's last answer was late. Until the stream answers again, each batch goes to both paths at once. */
  let streamLate = false;

  /** Decides which replica of metering gets a report about many accounts first. */
  const sharedPreference: ReplicaPreference = { key: holder };

  const report = (
    request: ReportRequest,
    withinMs: number,
    preference: ReplicaPreference,
  ): Promise<ReportResponse> =>
    hedge(clock, withinMs, preference, (leftMs, replica) => paths.report(request, leftMs, replica));

  /** Sends a batch at the end of this turn of the event loop, so that calls of the same moment share the batch. */
  const schedule = (): void => {
    if (!scheduled && inFlight < BATCHES_IN_FLIGHT && dirty.size > 0) void sendSoon();
  };

  const sendSoon = async (): Promise<void> => {
    scheduled = true;
    await clock.sleep(0);
    scheduled = false;
    if (inFlight < BATCHES_IN_FLIGHT) await sendBatch();
  };

  const sendBatch = async (): Promise<void> => {
    const grants = takeBatch(dirty);
    if (grants.size === 0) return;
    const batch: Batch = {
      snapshots: snapshotsOf(grants),
      unsettled: grants,
      waiting: takeWaiting(grants),
      began: clock.now(),
    };
    inFlight += 1;
    // The journal collects the next batch while this one is under way.
    schedule();
    try {
      const stream = byStream(batch);
      // The report starts when the stream is late. The first acknowledgement of either path decides.
      await Promise.any([stream, byReport(batch, stream)]);
    } catch (error) {
      const fault = new Fault('unavailable', 'usage could not be recorded in time');
      const failed = endCalls(batch, batch.unsettled, ({ reject }) => reject(fault));
      events.failed(failed, error);
      void sendAgain(batch.unsettled);
    } finally {
      inFlight -= 1;
      schedule();
    }
  };

  const takeWaiting = (grants: ReadonlySet<HeldGrant>): Map<HeldGrant, Waiting> => {
    const taken = new Map<HeldGrant, Waiting>();
    for (const grant of grants) {
      const waiting = waitingFor.get(grant);
      if (!waiting) continue;
      waitingFor.delete(grant);
      taken.set(grant, waiting);
    }
    return taken;
  };

  /** Ends the commits of these grants' calls in the batch. Returns how many there were. */
  const endCalls = (
    { waiting }: Batch,
    grants: ReadonlySet<HeldGrant>,
    end: (waiting: Waiting, grant: HeldGrant) => void,
  ): number => {
    let calls = 0;
    for (const grant of grants) {
      const ofGrant = waiting.get(grant);
      if (!ofGrant) continue;
      calls += ofGrant.calls;
      book.committed(grant, ofGrant.calls);
      end(ofGrant, grant);
    }
    return calls;
  };

  /** Sends these grants' usage again in a later batch. Usage is cumulative, so metering bills it only once. */
  const sendAgain = async (grants: ReadonlySet<HeldGrant>): Promise<void> => {
    resting += 1;
    await clock.sleep(SEND_AGAIN_AFTER_MS);
    resting -= 1;
    for (const grant of grants) dirty.add(grant);
    schedule();
  };

  /**
   * Resolves the commits of these grants' calls, whose usage is durable. Rejects the commits for grants that metering refused.
   */
  const settle = (
    path: 'stream' | 'report',
    batch: Batch,
    grants: ReadonlySet<HeldGrant>,
    refused: ReadonlySet<string>,
  ): void => {
    for (const grant of grants) {
      batch.unsettled.delete(grant);
      const snapshot = batch.snapshots.get(grant);
      if (snapshot) markDurable(grant, snapshot);
      if (refused.has(grant.id)) Object.assign(grant, { refused: true, retired: true });
    }
    const calls = endCalls(batch, grants, ({ resolve, reject }, grant) =>
      refused.has(grant.id) ? reject(closedMeanwhile()) : resolve(),
    );
    const closed = [...grants].filter((grant) => batch.snapshots.get(grant)?.usage.closed || grant.refused);
    const now = clock.now();
    if (path === 'report') book.forget(new Set(closed), now);
    else book.stored(closed, now);
    events.committed(path, calls, elapsedMs(batch.began, now));
  };

  /**
   * Publishes the batch. If the acknowledgement comes too late for some of the grants, commits the usage of the others, and then
   * rejects.
   */
  const byStream = async (batch: Batch): Promise<void> => {
    const { snapshots, unsettled, began } = batch;
    published += 1;
    const messageId = `${holder}-${published}`;
    const usage = usageOf(snapshots.values());
    for (;;) {
      try {
        await paths.publish({ holder, usage }, messageId);
        break;
      } catch (error) {
        if (unsettled.size === 0 || elapsedMs(began, clock.now()) >= COMMIT_WITHIN_MS) throw error;
        await clock.sleep(PUBLISH_AGAIN_AFTER_MS);
      }
    }
    streamLate = false;
    const now = clock.now();
    const inTime = new Set([...unsettled].filter((grant) => book.acknowledgementCounts(grant, now)));
    settle('stream', batch, inTime, new Set());
    if (unsettled.size > 0)
      throw new Fault('unavailable', "the acknowledgement came after a grant's end: only a report counts");
  };

  /** Reports the batch's unconfirmed usage to metering when the stream is late. Rejects if metering could not store all of it. */
  const byReport = async (batch: Batch, stream: Promise<void>): Promise<void> => {
    let isAnswered = false;
    const answered = stream
      .catch(() => {})
      .then(() => {
        isAnswered = true;
      });
    if (!streamLate) await Promise.race([clock.sleep(REPORT_AFTER_MS), answered]);
    if (batch.unsettled.size === 0) return;
    if (!isAnswered) streamLate = true;
    const usage = usageOf([...batch.unsettled].flatMap((grant) => batch.snapshots.get(grant) ?? []));
    const leftMs = COMMIT_WITHIN_MS - elapsedMs(batch.began, clock.now());
    const { refusedGrantIds, unavailableGrantIds } = await report(
      { holder, usage },
      Math.max(1, leftMs),
      sharedPreference,
    );
    const stored = [...batch.unsettled].filter(({ id }) => !unavailableGrantIds.includes(id));
    settle('report', batch, new Set(stored), new Set(refusedGrantIds));
    if (batch.unsettled.size > 0) throw new Fault('unavailable', 'metering could not store all of the usage');
  };

  return {
    commit: (grant) => {
      if (grant.refused) {
        book.committed(grant, 1);
        return Promise.reject(closedMeanwhile());
      }
      let waiting = waitingFor.get(grant);
      if (!waiting) {
        const { promise: durable, resolve, reject } = Promise.withResolvers<void>();
        waiting = { calls: 0, durable, resolve, reject };
        waitingFor.set(grant, waiting);
      }
      waiting.calls += 1;
      dirty.add(grant);
      schedule();
      return waiting.durable;
    },
    send: (grant) => {
      dirty.add(grant);
      schedule();
    },
    reportAtOnce: async (grants, preference) => {
      if (grants.length === 0) return true;
      const snapshots = snapshotsOf(grants);
      reporting += 1;
      try {
        const { unavailableGrantIds } = await report(
          { holder, usage: usageOf(snapshots.values()) },
          COMMIT_WITHIN_MS,
          preference,
        );
        const left = new Set(grants.filter(({ id }) => unavailableGrantIds.includes(id)));
        book.reported(new Map([...snapshots].filter(([grant]) => !left.has(grant))), clock.now());
        for (const grant of left) dirty.add(grant);
        schedule();
        return left.size === 0;
      } catch {
        for (const grant of grants) dirty.add(grant);
        schedule();
        return false;
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

function closedMeanwhile(): Fault {
  return new Fault('unavailable', 'the permit of this call was closed meanwhile');
}

function snapshotsOf(grants: Iterable<HeldGrant>): Map<HeldGrant, UsageSnapshot> {
  return new Map([...grants].map((grant) => [grant, snapshotOf(grant)]));
}

function usageOf(snapshots: Iterable<UsageSnapshot>): GrantUsage[] {
  return [...snapshots].map(({ usage }) => usage);
}

/** Removes from `dirty` as many grants as one message may contain, and returns them. */
function takeBatch(dirty: Set<HeldGrant>): Set<HeldGrant> {
  const batch = new Set<HeldGrant>();
  let cells = 0;
  for (const grant of dirty) {
    const isFull = batch.size >= MOST_IN_BATCH.grants || cells + cellsToReport(grant) > MOST_IN_BATCH.cells;
    if (batch.size > 0 && isFull) break;
    batch.add(grant);
    cells += cellsToReport(grant);
  }
  for (const grant of batch) dirty.delete(grant);
  return batch;
}
