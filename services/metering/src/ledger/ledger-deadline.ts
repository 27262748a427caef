import { answerWithin } from '@brand-data/runtime';

const ANSWER_WITHIN_MS = 3_000;

/**
 * Rejects with Fault `unavailable` if the ledgers do not answer in time. A write that was already sent may still take effect.
 */
export function withLedgerDeadline<T>(answer: Promise<T>): Promise<T> {
  return answerWithin(answer, {
    withinMs: ANSWER_WITHIN_MS,
    detail: 'the ledgers did not answer in time: try again',
  });
}
