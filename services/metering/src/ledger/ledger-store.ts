import { MONTH_MARGIN_MS, type UsageCell } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault, type Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import { type Ledger, type LedgerKey, usedOf } from './ledger.ts';
import { countDropped } from './ledger-counters.ts';
import {
  breakdownOfMonth,
  type LedgerDatabase,
  type OpenCursor,
  type OpenGrants,
  type OverdueGrant,
  opensGrant,
  opensUntilMs,
} from './ledger-database.ts';
import { LedgerQueue, type LedgerQueueParts } from './ledger-queue.ts';
import { decideOnUsage } from './ledger-usage.ts';
import type { LedgerInput } from './senders.ts';
import { tooManyChanges } from './shared-commands.ts';
import {
  byLedger,
  type NotApplied,
  notApplied,
  type UsageOfLedger,
  type UsageOutcome,
} from './usage-by-ledger.ts';
import { mergeByGrant } from './usage-merge.ts';

/*
 * Every change of a ledger goes one way:
 *
 *   Acquire, operators       Report, usage streams       settler
 *        | update                  | applyUsage             | settle
 *        v                         v                        v
 *   LedgerStore      says for each ledger what to decide, with the pure functions of ledger.ts and ledger-usage.ts
 *        |
 *        v           one queue for each ledger
 *   LedgerQueue      While decisions on a ledger are being stored, further decisions on it wait. Then all that wait are made
 *        |           together, on one read of the ledger. Only other replicas can change the ledger meanwhile.
 *        v           a few lanes for all ledgers
 *   SharedCommands   Ledgers that come in the same moment share each command: a read, the breakdowns, a write.
 *        |
 *        v
 *   LedgerDatabase   one document for each ledger
 *
 * The write of the ledger decides. Breakdowns of open grants are stored before it, and those of closed grants are deleted after
 * it. If only used and returned permits of open grants grow, the write requires that these grants are unchanged (`replaceUse`).
 * Usage of different grants therefore does not conflict. Every other write requires that the whole ledger is unchanged
 * (`storeLedgers`). If the requirement does not hold, the queue reads the ledger and decides again, for 2.5 s. There are no
 * locks, so a replica that dies or hangs blocks no other.
 */

export interface StoreEvents {
  /**
   * The replica has stored a change of a ledger. Called at most once for each billed call. Not called if the database did not answer
   * the write. Other replicas may have stored usage of other grants since `before` was read.
   */
  changed(before: Ledger, after: Ledger): void;
  /** Refused usage leaves at most this many calls unbilled. With "forgotten_grant" they were most likely billed earlier. */
  dropped(reason: 'closed_grant' | 'forgotten_grant', calls: number): void;
  failed(error: unknown): void;
}

const NOBODY_LISTENS: StoreEvents = { changed: () => {}, dropped: () => {}, failed: () => {} };
const LEDGERS_AT_ONCE = 500;
/** Settling reads the breakdowns of each ledger with separate commands, so it leaves connections to the requests for grants. */
const LEDGERS_SETTLED_AT_ONCE = 16;
const MOST_UNMERGED_CELLS = 40;
/** The time for one batch of usage, or of grants to settle. The store does not begin with further ledgers after this time. */
const APPLY_WITHIN_MS = 6_000;

type LedgerStoreParts = Pick<LedgerQueueParts, 'database' | 'clock'> &
  Partial<Omit<LedgerQueueParts, 'changed'>> & { events?: StoreEvents };

/**
 * The ledgers. What a method returns is durable. If the database does not answer in time, or other replicas change a ledger too
 * often, `applyUsage` names the grants as `unavailable` and `settle` leaves them open. Every other method rejects with Fault
 * `unavailable`.
 */
export class LedgerStore {
  readonly #database: LedgerDatabase;
  readonly #clock: Clock;
  readonly #events: StoreEvents;
  readonly #queue: LedgerQueue;

  constructor({
    database,
    clock,
    events = NOBODY_LISTENS,
    beforeNewLimit = async () => {},
    random = Math.random,
    mostUnmergedCells = MOST_UNMERGED_CELLS,
  }: LedgerStoreParts) {
    this.#database = database;
    this.#clock = clock;
    this.#events = events;
    const { changed } = events;
    this.#queue = new LedgerQueue({ database, clock, changed, beforeNewLimit, random, mostUnmergedCells });
  }

  /**
   * Reads one ledger, or makes a new one if it does not exist, and runs `decide` on it. Stores the ledger that `decide` returns,
   * unless it is the same object. If another replica has changed the ledger since the read, reads it and runs `decide` again. A
   * decision that changes nothing may be based on an old state.
   *
   * Rejects with Fault `failed_precondition` if the decision opens a grant of a month that is over.
   *
   * @param usage usage of this ledger's grants, which is applied before `decide` and stored by the same write. If some of it
   * could not be applied, `update` rejects with Fault `unavailable`, although the decision may be stored
   * @param answered gets the ids of the grants whose usage was not applied
   */
  async update<T>(
    key: LedgerKey,
    decide: (ledger: Ledger) => { ledger: Ledger; result: T },
    usage: readonly LedgerInput[] = [],
    answered: (notApplied: NotApplied) => void = () => {},
  ): Promise<T> {
    let outcome = (): T => {
      throw tooManyChanges();
    };
    // The usage and the decision join the ledger's next batch together, in this order.
    const applying = this.#applyAll(byLedger(mergeByGrant(usage)));
    await this.#queue.store({
      key,
      decide: (before, _stored, isOver) => {
        try {
          const { ledger, result } = decide(before);
          if (isOver && opensGrant(before, ledger))
            throw new Fault('failed_precondition', 'the month is over: ask with a new seq');
          outcome = () => result;
          return { ledger };
        } catch (error) {
          outcome = () => {
            throw error;
          };
          return { ledger: before };
        }
      },
    });
    const answer = notApplied(await applying);
    answered(answer);
    if (answer.unknown.length + answer.unavailable.length > 0) throw tooManyChanges();
    return outcome();
  }

  /**
   * Applies cumulative usage. The same usage may be applied in any order and any number of times: the result is the same. Closing
   * a grant adds its usage and breakdown to the month once. A ledger that cannot be reached does not affect the other ledgers. If
   * an id does not come from this service, applies nothing and rejects with Fault `invalid_argument`.
   */
  async applyUsage(usage: readonly LedgerInput[]): Promise<NotApplied> {
    const result = notApplied(await this.#applyAll(byLedger(mergeByGrant(usage))));
    this.#database.dropCells(result.refused);
    return result;
  }

  /** Closes grants with the usage that is known. Returns the ids of the grants that it closed. */
  async settle(grantIds: readonly string[]): Promise<string[]> {
    const outcomes = await this.#applyAll(byLedger(grantIds.map(closeAsKnown)), LEDGERS_SETTLED_AT_ONCE);
    return outcomes.flatMap(({ decision }) => decision?.closed ?? []);
  }

  /** See LedgerDatabase. */
  listOverdue(nowMs: number, limit: number): Promise<OverdueGrant[]> {
    return this.#database.listOverdue(nowMs, limit);
  }

  /** See LedgerDatabase. */
  listOpen(after: OpenCursor | undefined, limit: number): Promise<OpenGrants> {
    return this.#database.listOpen(after, limit);
  }

  /**
   * Whether no grant of the month is opened any more, whatever the clocks of the replicas say. A read after this shows every grant of
   * the month that was ever opened: the last ones were stored within the second margin.
   */
  async isOver(month: string): Promise<boolean> {
    return (await this.#database.nowMs()) >= opensUntilMs(month) + MONTH_MARGIN_MS;
  }

  /** An account's ledgers of one month, each with the breakdown of its closed and open grants, all as of one moment. */
  async readUsage(accountId: string, month: string): Promise<{ ledger: Ledger; cells: UsageCell[] }[]> {
    return (await this.#database.readMonth(accountId, month)).map((stored) => {
      const { version, ...ledger } = stored.ledger;
      return { ledger, cells: breakdownOfMonth(stored) };
    });
  }

  /**
   * Never rejects. Names the usage of ledgers that it does not reach in time as `unavailable`. If the database refuses a command
   * because of one ledger, the other ledgers of the command must not fail with it. Therefore each of them is tried again alone.
   */
  async #applyAll(
    usages: readonly UsageOfLedger[],
    ledgersAtOnce = LEDGERS_AT_ONCE,
  ): Promise<UsageOutcome[]> {
    const began = this.#clock.now();
    const isLate = () => elapsedMs(began, this.#clock.now()) >= APPLY_WITHIN_MS;
    const outcomes: UsageOutcome[] = [];
    for (let at = 0; at < usages.length; at += ledgersAtOnce) {
      const now = usages.slice(at, at + ledgersAtOnce);
      const tried = isLate() ? now.map(notTried) : await Promise.all(now.map((usage) => this.#apply(usage)));
      for (const outcome of tried) {
        const tryAlone = isRefusal(outcome) && usages.length > 1 && !isLate();
        outcomes.push(tryAlone ? await this.#apply(outcome.of) : outcome);
      }
    }
    // A command that failed is about many ledgers.
    const errors = new Set(outcomes.flatMap(({ error }) => error ?? []));
    for (const error of errors) this.#events.failed(error);
    return outcomes;
  }

  /** Applies the usage of one ledger, after the decisions that already wait for it. Never rejects. */
  async #apply(of: UsageOfLedger): Promise<UsageOutcome> {
    const outcome = notTried(of);
    try {
      await this.#queue.store({
        key: of.key,
        decide: (before, stored) => {
          outcome.decision = decideOnUsage(before, of.usage, stored);
          return outcome.decision;
        },
      });
    } catch (error) {
      return { of, decision: undefined, error };
    }
    const { dropped = 0, forgotten = 0 } = outcome.decision ?? {};
    if (dropped > 0) this.#events.dropped('closed_grant', dropped);
    if (forgotten > 0) this.#events.dropped('forgotten_grant', forgotten);
    return outcome;
  }
}

/** Returns the usage that closes the grant of a holder that has disappeared. It adds nothing to the usage that is stored. */
function closeAsKnown(grantId: string): LedgerInput {
  return { grantId, used: 0, returned: 0, closed: true, cells: [], partial: true };
}

/** Whether the database answered, and refused the command. */
function isRefusal({ error }: UsageOutcome): boolean {
  return error !== undefined && !(error instanceof Fault);
}

function notTried(of: UsageOfLedger): UsageOutcome {
  return { of, decision: undefined, error: undefined };
}

/**
 * Reports billed and dropped calls to Prometheus and the log.
 *
 * @param changed is called after each change of a ledger, too
 */
export function storeEvents(service: Service, changed: StoreEvents['changed']): StoreEvents {
  const { log, metrics } = service;
  const billed = new Counter({
    name: 'metering_billed_calls_total',
    help: "Calls that metering added to accounts' bills",
    registers: [metrics],
  });
  const dropped = countDropped(metrics);
  return {
    changed: (before, after) => {
      billed.inc(Math.max(0, usedOf(after) - usedOf(before)));
      changed(before, after);
    },
    dropped: (reason, calls) => {
      dropped(reason, calls);
      log.warn({ calls, reason }, 'usage of closed grants was dropped');
    },
    failed: (err) => log.warn({ err }, 'usage was not stored, its sender repeats it'),
  };
}
