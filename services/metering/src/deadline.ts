import { answerWithin } from '@brand-data/runtime';

const ANSWER_WITHIN_MS = 3_000;

/** Rejects with Fault `unavailable` when the ledgers do not answer; a write that was begun may still be done after. */
export function withDeadline<T>(answer: Promise<T>): Promise<T> {
  return answerWithin(answer, {
    withinMs: ANSWER_WITHIN_MS,
    detail: 'the ledgers did not answer in time: try again',
  });
}
