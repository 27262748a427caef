import { setTimeout as delay } from 'node:timers/promises';

/** For each check. A service answers `bds doctor` within this time, also if nothing that it depends on works. */
const CHECK_WITHIN_MS = 3_000;

/**
 * The finding of a check. `warning`: callers notice nothing yet. `wrong`: something does not work, or will stop working soon. The
 * texts are for operators, and hold no secret.
 */
export type Found =
  | { state: 'ok'; detail: string }
  | { state: 'warning' | 'wrong'; detail: string; advice: string };

/** The checks that a service makes when an operator asks how it is. */
export class Diagnosis {
  readonly #checks = new Map<string, () => Promise<Found>>();

  /**
   * @param what as in "MongoDB", "stream BRAND_DATA_USAGE". A later check of the same thing replaces the earlier one
   * @param check if it rejects or takes longer than 3 s, the thing does not answer
   */
  add(what: string, check: () => Promise<Found>): void {
    this.#checks.set(what, check);
  }

  /** Makes all checks at the same time. */
  run(): Promise<{ what: string; found: Found }[]> {
    return Promise.all(
      [...this.#checks].map(async ([what, check]) => ({ what, found: await inTime(check) })),
    );
  }
}

async function inTime(check: () => Promise<Found>): Promise<Found> {
  const advice = 'check that it runs, and that this service reaches it; the log of the service says more';
  const silent = (detail: string): Found => ({ state: 'wrong', detail, advice });
  const tooLate = silent(`no answer in ${CHECK_WITHIN_MS / 1_000} s`);
  try {
    return await Promise.race([check(), delay(CHECK_WITHIN_MS, tooLate, { ref: false })]);
  } catch {
    // The message of a driver may hold addresses and names of users.
    return silent('it cannot be used');
  }
}

/** Returns the finding about how full something is, as shares from 0 to 1. */
export function foundFill(
  share: number,
  limits: { warning: number; wrong: number },
  { detail, advice }: { detail: string; advice: string },
): Found {
  if (share >= limits.wrong) return { state: 'wrong', detail, advice };
  return share >= limits.warning ? { state: 'warning', detail, advice } : { state: 'ok', detail };
}
