import type { Found } from '@brand-data/runtime';

/**
 * The result of one check. `warning`: callers notice nothing yet. `wrong`: something does not work, or will stop working soon.
 * `skipped`: the address of the part is not set.
 */
export interface CheckLine {
  state: 'ok' | 'warning' | 'wrong' | 'skipped';
  /** "accounts", "bds", "http://10.0.0.7:9090". */
  part: string;
  /** "MongoDB". */
  check: string;
  found: string;
  /** What to do. Empty if there is nothing to do. */
  advice: string;
}

export function ok(part: string, check: string, found: string): CheckLine {
  return { state: 'ok', part, check, found, advice: '' };
}

export function lineOf(part: string, check: string, found: Found): CheckLine {
  const advice = found.state === 'ok' ? '' : found.advice;
  return { state: found.state, part, check, found: found.detail, advice };
}
