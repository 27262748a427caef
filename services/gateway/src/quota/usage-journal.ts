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
const PUBLISH_WITHIN_MS = 250;
const PUBLISH_AGAIN_AFTER_MS = 20;
const BATCHES_IN_FLIGHT = 2;
/**
 * A batch costs about as much processor time as ten calls, here, in NATS and in metering. While calls come fast, the next one
 * therefore begins this long after the last, or once it has FULL_CALLS. A call that comes alone does not wait.
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
  publish(event: UsageEvent, messageId: string, withinMs: number): Promise<void>;
  /** Resolves once metering has answered for each grant: it has stored the usage, refused it, or cannot store it now. */
  report(request: ReportRequest, withinMs: number, replica: ReplicaChoice): Promise<ReportResponse>;
}

/** For metrics, traces and the log. */
export interface JournalEvents {
  /** A call begins to wait until its usage is durable. */
  waits(): void;
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

interface JournalParts {
  book: GrantBook;
  holder: string;
  clock: Clock;
  paths: UsagePaths;
  events: JournalEvents;
}

/** Makes usage durable by group commit: calls that end while a batch is under way share the next batch. */
export class UsageJournal {
  readonly #book: GrantBook;
  readonly #clock: Clock;
  readonly #parts: JournalParts;
  /** Decides which replica of metering gets a report about many accounts first. */
  readonly #sharedPreference: ReplicaPreference;
  /** Grants whose usage the next batches have to contain, each once. */
  readonly #unsent: HeldGrant[] = [];
  /** Calls that wait for the next batches. */
  #unsentCalls = 0;
  #inFlight = 0;
  #resting = 0;
  #reporting = 0;
  #isScheduled = false;
  #isGathering = false;
  #published = 0;
  /** The calls of the last batch, and when it began. */
  #last: { calls: number; began: Instant } | undefined;
  /** Whether the last publish failed. Until the stream acknowledges one again, each batch goes to both paths at once. */
  #isStreamDown = false;

  constructor(parts: JournalParts) {
    this.#book = parts.book;
    this.#clock = parts.clock;
    this.#parts = parts;
    this.#sharedPreference = { key: parts.holder };
  }

  /**
   * Called once for each used permit. Resolves once the grant's current usage is durable. Rejects with Fault `unavailable` if
   * its batch is not durable within a second and a half.
   */
  commit(grant: HeldGrant): Promise<void> {
    if (grant.refused) {
      this.#book.committed(grant, 1);
      return Promise.reject(closedMeanwhile());
    }
    this.#parts.events.waits();
    if (!grant.waiting) {
      const { promise: durable, resolve, reject } = Promise.withResolvers<void>();
      grant.waiting = { calls: 0, durable, resolve, reject };
    }
    const { waiting } = grant;
    waiting.calls += 1;
    this.#unsentCalls += 1;
    this.send(grant);
    return waiting.durable;
  }

  /** Sends the grant's usage without a waiting call, for a close or returned permits. Repeats this until the usage is durable. */
  send(grant: HeldGrant): void {
    this.#toSend(grant);
    this.#schedule();
  }

  /**
   * Sends the grants' usage to metering at once, because calls wait for permits of these grants. Resolves to false if metering did
   * not store all of it. The usage that it did not store then goes through the stream too.
   */
  async reportAtOnce(grants: readonly HeldGrant[], preference: ReplicaPreference): Promise<boolean> {
    if (grants.length === 0) return true;
    const snapshots = new Map(grants.map((grant) => [grant, snapshotOf(grant)]));
    const usage = [...snapshots.values()].map((snapshot) => snapshot.usage);
    this.#reporting += 1;
    let left = grants;
    try {
      const { unavailableGrantIds } = await this.#report(usage, REPORT_AT_ONCE_WITHIN_MS, preference);
      left = grants.filter(({ id }) => unavailableGrantIds.includes(id));
      for (const grant of left) snapshots.delete(grant);
      this.#book.reported(snapshots, this.#clock.now());
    } catch {
      // The stream takes what the report did not bring.
    } finally {
      this.#reporting -= 1;
    }
    for (const grant of left) this.#toSend(grant);
    this.#schedule();
    return left.length === 0;
  }

  /** Resolves when no usage is left to send, or when `withinMs` have passed. */
  async flush(withinMs: number): Promise<void> {
    const began = this.#clock.now();
    const isIdle = () => this.#unsent.length + this.#inFlight + this.#resting + this.#reporting === 0;
    while (!isIdle() && elapsedMs(began, this.#clock.now()) < withinMs) await this.#clock.sleep(10);
  }

  #toSend(grant: HeldGrant): void {
    if (grant.isUnsent) return;
    grant.isUnsent = true;
    this.#unsent.push(grant);
  }

  /** Sends a batch at the end of this turn of the event loop, for all calls of the moment, or later if more are about to come. */
  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= BATCHES_IN_FLIGHT || this.#unsent.length === 0) return;
    if (this.#unsentCalls < FULL_CALLS) {
      if (this.#isGathering) return;
      const waitMs = this.#gatherMs();
      if (waitMs > 0) return void this.#gather(waitMs);
    }
    void this.#sendSoon();
  }

  #gatherMs(): number {
    const last = this.#last;
    return last && last.calls >= FAST_CALLS
      ? Math.ceil(GATHER_MS - elapsedMs(last.began, this.#clock.now()))
      : 0;
  }

  async #gather(ms: number): Promise<void> {
    this.#isGathering = true;
    await this.#clock.sleep(ms);
    this.#isGathering = false;
    this.#schedule();
  }

  async #sendSoon(): Promise<void> {
    this.#isScheduled = true;
    await this.#clock.sleep(0);
    this.#isScheduled = false;
    if (this.#inFlight < BATCHES_IN_FLIGHT) await this.#sendBatch();
  }

  async #sendBatch(): Promise<void> {
    const entries = takeEntries(this.#unsent);
    if (entries.length === 0) return;
    const batch: Batch = { unsettled: entries, began: this.#clock.now() };
    const calls = entries.reduce((sum, { waiting }) => sum + (waiting?.calls ?? 0), 0);
    this.#unsentCalls -= calls;
    this.#last = { calls, began: batch.began };
    this.#inFlight += 1;
    // The journal collects the next batch while this one is under way.
    this.#schedule();
    try {
      const needsReport = Promise.withResolvers<void>();
      if (this.#isStreamDown) needsReport.resolve();
      // The first acknowledgement of either path decides.
      await Promise.any([
        this.#byStream(batch, needsReport.resolve),
        this.#byReport(batch, needsReport.promise),
      ]);
    } catch (error) {
      this.#fail(batch.unsettled, error);
    } finally {
      this.#inFlight -= 1;
      this.#schedule();
    }
  }

  /** Rejects the commits of these entries' calls, and sends the usage again later. Metering bills it only once. */
  #fail(entries: readonly Entry[], error: unknown): void {
    const fault = new Fault('unavailable', 'usage could not be recorded in time');
    let failed = 0;
    for (const { grant, waiting } of entries) {
      if (!waiting) continue;
      failed += waiting.calls;
      this.#book.committed(grant, waiting.calls);
      waiting.reject(fault);
    }
    this.#parts.events.failed(failed, error);
    void this.#sendAgain(entries);
  }

  async #sendAgain(entries: readonly Entry[]): Promise<void> {
    this.#resting += 1;
    await this.#clock.sleep(SEND_AGAIN_AFTER_MS);
    this.#resting -= 1;
    for (const { grant } of entries) this.#toSend(grant);
    this.#schedule();
  }

  /**
   * Publishes the batch until the stream acknowledges it. If that is too late for some grants, commits the others, and then rejects.
   *
   * @param startReport called when a publish fails, and at the acknowledgement
   */
  async #byStream(batch: Batch, startReport: () => void): Promise<void> {
    this.#published += 1;
    const messageId = `${this.#parts.holder}-${this.#published}`;
    const event = {
      holder: this.#parts.holder,
      usage: batch.unsettled.map(({ snapshot }) => snapshot.usage),
    };
    for (;;) {
      try {
        await this.#parts.paths.publish(event, messageId, PUBLISH_WITHIN_MS);
        break;
      } catch (error) {
        this.#isStreamDown = true;
        startReport();
        if (batch.unsettled.length === 0 || this.#leftMs(batch) <= 0) throw error;
        await this.#clock.sleep(PUBLISH_AGAIN_AFTER_MS);
      }
    }
    this.#isStreamDown = false;
    const now = this.#clock.now();
    const { inTime = [], late = [] } = Object.groupBy(batch.unsettled, ({ grant }) =>
      this.#book.acknowledgementCounts(grant, now) ? 'inTime' : 'late',
    );
    batch.unsettled = late;
    this.#settle('stream', batch, inTime);
    startReport();
    if (late.length > 0)
      throw new Fault('unavailable', "the acknowledgement came after a grant's end: only a report counts");
  }

  /** Reports the usage that the stream has not confirmed, if there is any. Rejects if metering could not store all of it. */
  async #byReport(batch: Batch, isNeeded: Promise<void>): Promise<void> {
    await isNeeded;
    if (batch.unsettled.length === 0) return;
    const { refusedGrantIds, unavailableGrantIds } = await this.#report(
      batch.unsettled.map(({ snapshot }) => snapshot.usage),
      Math.max(1, this.#leftMs(batch)),
      this.#sharedPreference,
    );
    const { stored = [], notStored = [] } = Object.groupBy(batch.unsettled, ({ grant }) =>
      unavailableGrantIds.includes(grant.id) ? 'notStored' : 'stored',
    );
    batch.unsettled = notStored;
    this.#settle('report', batch, stored, refusedGrantIds);
    if (notStored.length > 0) throw new Fault('unavailable', 'metering could not store all of the usage');
  }

  #report(usage: GrantUsage[], withinMs: number, preference: ReplicaPreference): Promise<ReportResponse> {
    const request: ReportRequest = { holder: this.#parts.holder, usage };
    return hedge(this.#clock, withinMs, preference, (leftMs, replica) =>
      this.#parts.paths.report(request, leftMs, replica),
    );
  }

  /** Resolves the commits of these entries' calls, whose usage is durable. Rejects those of grants that metering refused. */
  #settle(
    path: 'stream' | 'report',
    { began }: Batch,
    entries: readonly Entry[],
    refused: readonly string[] = [],
  ): void {
    let calls = 0;
    const closed: HeldGrant[] = [];
    for (const { grant, snapshot, waiting } of entries) {
      markDurable(grant, snapshot);
      const isRefused = refused.includes(grant.id);
      if (isRefused) Object.assign(grant, { refused: true, retired: true });
      if (snapshot.usage.closed || grant.refused) closed.push(grant);
      if (!waiting) continue;
      calls += waiting.calls;
      this.#book.committed(grant, waiting.calls);
      if (isRefused) waiting.reject(closedMeanwhile());
      else waiting.resolve();
    }
    const now = this.#clock.now();
    if (path === 'report') this.#book.forget(new Set(closed), now);
    else this.#book.stored(closed, now);
    this.#parts.events.committed(path, calls, elapsedMs(began, now));
  }

  #leftMs({ began }: Batch): number {
    return COMMIT_WITHIN_MS - elapsedMs(began, this.#clock.now());
  }
}

function closedMeanwhile(): Fault {
  return new Fault('unavailable', 'the permit of this call was closed meanwhile');
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
