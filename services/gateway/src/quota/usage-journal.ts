import type { GrantUsage, ReportRequest, ReportResponse, UsageEvent } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault, type Instant, type ReplicaChoice } from '@brand-data/runtime';
import { hedge, type ReplicaPreference } from '../upstream/hedge.ts';
import type { GrantBook } from './grant-book.ts';
import {
  cellsToReport,
  type HeldGrant,
  markDurable,
  snapshotOf,
  type UsageSnapshot,
  type Waiting,
} from './held-grant.ts';

const COMMIT_WITHIN_MS = 1_500;
const REPORT_AT_ONCE_WITHIN_MS = 1_000;
const PUBLISH_AGAIN_AFTER_MS = 20;
const BATCHES_IN_FLIGHT = 2;
/**
 * A batch costs about as much processor time as ten calls, here, in NATS and in metering. So while calls come fast, the next batch
 * begins this long after the last one, or as soon as it has FULL_CALLS. Calls that come one by one wait for no others.
 */
const GATHER_MS = 2;
/** Calls come fast if the last batch had this many. */
const FAST_CALLS = 8;
const FULL_CALLS = 200;
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
   * Called once for each used permit. Resolves once the grant's current usage is durable. Rejects with Fault `unavailable` if
   * its batch is not durable within a second and a half.
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

/** A grant's usage in a batch. */
interface Entry {
  readonly grant: HeldGrant;
  readonly snapshot: UsageSnapshot;
  /** undefined: no call waits for it. */
  readonly waiting: Waiting | undefined;
}

/** The usage that one message contains. */
interface Batch {
  /** The entries whose usage no path has confirmed yet. */
  unsettled: readonly Entry[];
  readonly began: Instant;
}

export function createUsageJournal(
  { book, holder, clock, paths }: { book: GrantBook; holder: string; clock: Clock; paths: UsagePaths },
  events: JournalEvents,
): UsageJournal {
  /** Grants whose usage the next batches have to contain, each once. */
  const unsent: HeldGrant[] = [];
  let inFlight = 0;
  let resting = 0;
  let reporting = 0;
  let scheduled = false;
  let gathering = false;
  let published = 0;
  /** Calls that wait for the next batches. */
  let unsentCalls = 0;
  /** The calls of the last batch, and when it began. */
  let last: { calls: number; began: Instant } | undefined;
  /** Whether the last publish failed. Until the stream acknowledges one again, each batch goes to both paths at once. */
  let isStreamDown = false;

  /** Decides which replica of metering gets a report about many accounts first. */
  const sharedPreference: ReplicaPreference = { key: holder };

  const report = (
    request: ReportRequest,
    withinMs: number,
    preference: ReplicaPreference,
  ): Promise<ReportResponse> =>
    hedge(clock, withinMs, preference, (leftMs, replica) => paths.report(request, leftMs, replica));

  /**
   * Sends a batch at the end of this turn of the event loop, so that calls of the same moment share the batch, or later, if more calls
   * are about to come.
   */
  const schedule = (): void => {
    if (scheduled || inFlight >= BATCHES_IN_FLIGHT || unsent.length === 0) return;
    if (unsentCalls < FULL_CALLS) {
      if (gathering) return;
      const waitMs = gatherMs();
      if (waitMs > 0) return void gather(waitMs);
    }
    void sendSoon();
  };

  const gatherMs = (): number =>
    last && last.calls >= FAST_CALLS ? Math.ceil(GATHER_MS - elapsedMs(last.began, clock.now())) : 0;

  const gather = async (ms: number): Promise<void> => {
    gathering = true;
    await clock.sleep(ms);
    gathering = false;
    schedule();
  };

  const sendSoon = async (): Promise<void> => {
    scheduled = true;
    await clock.sleep(0);
    scheduled = false;
    if (inFlight < BATCHES_IN_FLIGHT) await sendBatch();
  };

  const sendBatch = async (): Promise<void> => {
    const entries = takeEntries(unsent);
    if (entries.length === 0) return;
    const batch: Batch = { unsettled: entries, began: clock.now() };
    const calls = entries.reduce((sum, { waiting }) => sum + (waiting?.calls ?? 0), 0);
    unsentCalls -= calls;
    last = { calls, began: batch.began };
    inFlight += 1;
    // The journal collects the next batch while this one is under way.
    schedule();
    try {
      const needsReport = Promise.withResolvers<void>();
      if (isStreamDown) needsReport.resolve();
      // The first acknowledgement of either path decides.
      await Promise.any([byStream(batch, needsReport.resolve), byReport(batch, needsReport.promise)]);
    } catch (error) {
      const fault = new Fault('unavailable', 'usage could not be recorded in time');
      let failed = 0;
      for (const { grant, waiting } of batch.unsettled) {
        if (!waiting) continue;
        failed += waiting.calls;
        book.committed(grant, waiting.calls);
        waiting.reject(fault);
      }
      events.failed(failed, error);
      void sendAgain(batch.unsettled);
    } finally {
      inFlight -= 1;
      schedule();
    }
  };

  /** Sends the usage of these grants again in a later batch. Usage is cumulative, so metering bills it only once. */
  const sendAgain = async (entries: readonly Entry[]): Promise<void> => {
    resting += 1;
    await clock.sleep(SEND_AGAIN_AFTER_MS);
    resting -= 1;
    for (const { grant } of entries) toSend(grant);
    schedule();
  };

  const toSend = (grant: HeldGrant): void => {
    if (grant.isUnsent) return;
    grant.isUnsent = true;
    unsent.push(grant);
  };

  /** Resolves the commits of these entries' calls, whose usage is durable. Rejects those of grants that metering refused. */
  const settle = (
    path: 'stream' | 'report',
    { began }: Batch,
    entries: readonly Entry[],
    refused: readonly string[] = [],
  ): void => {
    let calls = 0;
    const closed: HeldGrant[] = [];
    for (const { grant, snapshot, waiting } of entries) {
      markDurable(grant, snapshot);
      const isRefused = refused.includes(grant.id);
      if (isRefused) Object.assign(grant, { refused: true, retired: true });
      if (snapshot.usage.closed || grant.refused) closed.push(grant);
      if (!waiting) continue;
      calls += waiting.calls;
      book.committed(grant, waiting.calls);
      if (isRefused) waiting.reject(closedMeanwhile());
      else waiting.resolve();
    }
    const now = clock.now();
    if (path === 'report') book.forget(new Set(closed), now);
    else book.stored(closed, now);
    events.committed(path, calls, elapsedMs(began, now));
  };

  /**
   * Publishes the batch, until the stream acknowledges it. If the acknowledgement comes too late for some of the grants, commits
   * the usage of the others, and then rejects.
   *
   * @param startReport called when a publish fails, and at the acknowledgement
   */
  const byStream = async (batch: Batch, startReport: () => void): Promise<void> => {
    published += 1;
    const messageId = `${holder}-${published}`;
    const usage = batch.unsettled.map(usageOf);
    for (;;) {
      try {
        await paths.publish({ holder, usage }, messageId);
        break;
      } catch (error) {
        isStreamDown = true;
        startReport();
        if (batch.unsettled.length === 0 || elapsedMs(batch.began, clock.now()) >= COMMIT_WITHIN_MS)
          throw error;
        await clock.sleep(PUBLISH_AGAIN_AFTER_MS);
      }
    }
    isStreamDown = false;
    const now = clock.now();
    const { inTime = [], late = [] } = Object.groupBy(batch.unsettled, ({ grant }) =>
      book.acknowledgementCounts(grant, now) ? 'inTime' : 'late',
    );
    batch.unsettled = late;
    settle('stream', batch, inTime);
    startReport();
    if (late.length > 0)
      throw new Fault('unavailable', "the acknowledgement came after a grant's end: only a report counts");
  };

  /** Reports the usage that the stream has not confirmed, if there is any. Rejects if metering could not store all of it. */
  const byReport = async (batch: Batch, isNeeded: Promise<void>): Promise<void> => {
    await isNeeded;
    if (batch.unsettled.length === 0) return;
    const usage = batch.unsettled.map(usageOf);
    const leftMs = COMMIT_WITHIN_MS - elapsedMs(batch.began, clock.now());
    const { refusedGrantIds, unavailableGrantIds } = await report(
      { holder, usage },
      Math.max(1, leftMs),
      sharedPreference,
    );
    const { stored = [], notStored = [] } = Object.groupBy(batch.unsettled, ({ grant }) =>
      unavailableGrantIds.includes(grant.id) ? 'notStored' : 'stored',
    );
    batch.unsettled = notStored;
    settle('report', batch, stored, refusedGrantIds);
    if (notStored.length > 0) throw new Fault('unavailable', 'metering could not store all of the usage');
  };

  return {
    commit: (grant) => {
      if (grant.refused) {
        book.committed(grant, 1);
        return Promise.reject(closedMeanwhile());
      }
      if (!grant.waiting) {
        const { promise: durable, resolve, reject } = Promise.withResolvers<void>();
        grant.waiting = { calls: 0, durable, resolve, reject };
      }
      const { waiting } = grant;
      waiting.calls += 1;
      unsentCalls += 1;
      toSend(grant);
      schedule();
      return waiting.durable;
    },
    send: (grant) => {
      toSend(grant);
      schedule();
    },
    reportAtOnce: async (grants, preference) => {
      if (grants.length === 0) return true;
      const snapshots = new Map(grants.map((grant) => [grant, snapshotOf(grant)]));
      const usage = [...snapshots.values()].map((snapshot) => snapshot.usage);
      reporting += 1;
      let left = grants;
      try {
        const { unavailableGrantIds } = await report({ holder, usage }, REPORT_AT_ONCE_WITHIN_MS, preference);
        left = grants.filter(({ id }) => unavailableGrantIds.includes(id));
        for (const grant of left) snapshots.delete(grant);
        book.reported(snapshots, clock.now());
      } catch {
        // The stream takes what the report did not bring.
      } finally {
        reporting -= 1;
      }
      for (const grant of left) toSend(grant);
      schedule();
      return left.length === 0;
    },
    flush: async (withinMs) => {
      const began = clock.now();
      while (unsent.length + inFlight + resting + reporting > 0 && elapsedMs(began, clock.now()) < withinMs)
        await clock.sleep(10);
    },
  };
}

function closedMeanwhile(): Fault {
  return new Fault('unavailable', 'the permit of this call was closed meanwhile');
}

function usageOf({ snapshot }: Entry): GrantUsage {
  return snapshot.usage;
}

/** Removes from `unsent` as many grants as one message may contain, and returns their usage. */
function takeEntries(unsent: HeldGrant[]): Entry[] {
  const entries: Entry[] = [];
  let cells = 0;
  for (const grant of unsent) {
    const more = cellsToReport(grant);
    const isFull = entries.length >= MOST_IN_BATCH.grants || cells + more > MOST_IN_BATCH.cells;
    if (entries.length > 0 && isFull) break;
    entries.push({ grant, snapshot: snapshotOf(grant), waiting: grant.waiting });
    cells += more;
  }
  for (const { grant } of entries) {
    grant.isUnsent = false;
    grant.waiting = undefined;
  }
  unsent.splice(0, entries.length);
  return entries;
}
