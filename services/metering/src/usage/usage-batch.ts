import { PARKED_USAGE } from '@brand-data/contracts';
import { type Clock, Fault } from '@brand-data/runtime';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { applyReadable, type UsageAnswer } from '../ledger/usage-by-ledger.ts';
import type { DeadLetterReason, UsageMessage, UsageStreams } from './usage-streams.ts';

const REDELIVER_AFTER_MS = 1_000;
const LONGEST_REDELIVERY_MS = 5_000;
/**
 * A grant may be unknown only because an election hides the latest writes from reads for a second or two. Therefore a message
 * with an unknown grant is parked, and goes to the dead letters only if it was parked longer ago than this, and was delivered this
 * many times since.
 */
const UNKNOWN_FOR_MS = 60_000;
const UNKNOWN_DELIVERIES = 10;

type RedeliveryReason = 'unavailable' | 'unknown_grant' | 'defect' | 'not_set_aside' | 'not_parked';

export interface UsageBatchEvents {
  /** Runs `apply` for these messages, and measures it. */
  applying<T>(batch: readonly UsageMessage[], apply: () => Promise<T>): Promise<T>;
  applied(messages: number): void;
  /** Metering refused the usage of this many grants, because the grants are closed. */
  refused(grants: number): void;
  redelivered(messages: number, why: RedeliveryReason, error?: unknown): void;
  parked(message: UsageMessage): void;
  /** `applied`: the grants whose usage was not applied completely. */
  deadLettered(message: UsageMessage, reason: DeadLetterReason, applied: UsageAnswer): void;
}

export type UsageBatches = ReturnType<typeof createUsageBatches>;

export function createUsageBatches(
  {
    streams,
    store,
    clock,
  }: {
    streams: Pick<UsageStreams, 'deadLetter' | 'park'>;
    store: Pick<LedgerStore, 'applyUsage'>;
    clock: Clock;
  },
  events: UsageBatchEvents,
) {
  const redeliver = (messages: readonly UsageMessage[], why: RedeliveryReason, error?: unknown): void => {
    if (messages.length === 0) return;
    for (const message of messages) message.nak(redeliverAfterMs(message.deliveries));
    events.redelivered(messages.length, why, error);
  };

  /** Stores a message that can never be applied among the dead letters, where an operator can read it. */
  const deadLetter = async (
    message: UsageMessage,
    reason: DeadLetterReason,
    applied: UsageAnswer,
  ): Promise<void> => {
    try {
      await streams.deadLetter(message, reason);
      message.term(reason);
      events.deadLettered(message, reason, applied);
    } catch (error) {
      redeliver([message], 'not_set_aside', error);
    }
  };

  /** Moves messages with unknown grants out of the way of all others. A parked message is only delivered again, or given up. */
  const wait = async (unknown: readonly UsageMessage[], applied: UsageAnswer): Promise<void> => {
    const { parked = [], fresh = [] } = Object.groupBy(unknown, ({ stream }) =>
      stream === PARKED_USAGE.name ? 'parked' : 'fresh',
    );
    const park = async (message: UsageMessage): Promise<void> => {
      try {
        await streams.park(message);
        message.ack();
        events.parked(message);
      } catch (error) {
        redeliver([message], 'not_parked', error);
      }
    };
    await Promise.all(fresh.map(park));
    const { givenUp = [], hoped = [] } = Object.groupBy(parked, (message) =>
      isGivenUp(message) ? 'givenUp' : 'hoped',
    );
    redeliver(hoped, 'unknown_grant');
    for (const message of givenUp) await deadLetter(message, 'unknown_grant', applied);
  };

  const isGivenUp = ({ storedMs, deliveries }: UsageMessage): boolean =>
    deliveries >= UNKNOWN_DELIVERIES && clock.now().wallMs - storedMs > UNKNOWN_FOR_MS;

  /**
   * Applies the usage of a batch, then acknowledges the messages whose usage is stored. Returns false if the store can write none
   * of them now. The stream then delivers all of them again. Does not reject.
   */
  const apply = async (batch: readonly UsageMessage[]): Promise<boolean> => {
    let applied: UsageAnswer;
    try {
      const usage = batch.flatMap((message) => message.usage ?? []);
      applied = await events.applying(batch, () => applyReadable(store, usage));
    } catch (error) {
      const isDefect = !(error instanceof Fault && error.kind === 'unavailable');
      // A message that causes a defect must not prevent the other messages from being stored. Therefore each message is applied
      // alone.
      if (isDefect && batch.length > 1) for (const message of batch) await apply([message]);
      else redeliver(batch, isDefect ? 'defect' : 'unavailable', error);
      return isDefect;
    }
    if (applied.refused.length > 0) events.refused(applied.refused.length);
    const verdict = verdicts(applied);
    const {
      stored = [],
      unavailable = [],
      unreadable = [],
      foreign = [],
      forged = [],
      unknown = [],
    } = Object.groupBy(batch, verdict);
    for (const message of stored) message.ack();
    if (stored.length > 0) events.applied(stored.length);
    redeliver(unavailable, 'unavailable');
    // The store combined several messages about one grant, and perhaps only one of them is wrong. Therefore each is applied
    // alone.
    for (const message of [...unreadable, ...foreign]) {
      const reason = foreign.includes(message) ? 'foreign_grant' : 'unreadable';
      await (batch.length === 1 ? deadLetter(message, reason, applied) : apply([message]));
    }
    for (const message of forged) await deadLetter(message, 'forged', applied);
    await wait(unknown, applied);
    return unavailable.length < batch.length;
  };
  return {
    apply,
    /** Makes the stream deliver these messages again, to any replica. */
    giveBack: (messages: readonly UsageMessage[]) => redeliver(messages, 'unavailable'),
  };
}

type Verdict = 'stored' | 'unavailable' | 'unreadable' | 'foreign' | 'forged' | 'unknown';

/** Says what to do with each message. If the store could not write some usage of a message, this comes before other reasons. */
function verdicts(applied: UsageAnswer) {
  const isUnavailable = namesAnyOf(applied.unavailable);
  const isUnreadable = namesAnyOf([...applied.unreadable, ...applied.impossible]);
  const isForeign = namesAnyOf(applied.foreign);
  const isUnknown = namesAnyOf(applied.unknown);
  return (message: UsageMessage): Verdict => {
    if (message.isForged) return 'forged';
    if (isUnavailable(message)) return 'unavailable';
    if (!message.usage || isUnreadable(message)) return 'unreadable';
    if (isForeign(message)) return 'foreign';
    return isUnknown(message) ? 'unknown' : 'stored';
  };
}

function namesAnyOf(grantIds: readonly string[]): (message: UsageMessage) => boolean {
  const ids = new Set(grantIds);
  return ({ usage = [] }) => ids.size > 0 && usage.some(({ grantId }) => ids.has(grantId));
}

function redeliverAfterMs(deliveries: number): number {
  return Math.min(REDELIVER_AFTER_MS * 2 ** (deliveries - 1), LONGEST_REDELIVERY_MS);
}
