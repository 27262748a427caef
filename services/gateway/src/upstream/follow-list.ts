import type { Service } from '@brand-data/runtime';

/** Notices come at once. This is for changes that send none, such as the restore of a copy. */
const LIST_EVERY_MS = 60_000;
const LIST_AGAIN_MS = 2_000;

/** How long the gateway waits for a list. */
export const LIST_WITHIN_MS = 5_000;

/**
 * Reads a list of another service, and again every minute. If the service does not answer, the gateway keeps the list that it has, and
 * a gateway that starts goes on without one until the service answers.
 *
 * @param what such as "the blocked addresses", for the log
 * @param read takes the list over
 * @returns a function that reads it again, and resolves when the answer is in force
 */
export async function followList(
  service: Pick<Service, 'log' | 'onStop'>,
  what: string,
  read: () => Promise<void>,
): Promise<() => Promise<void>> {
  let running = Promise.resolve();
  let next: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const list = async (): Promise<void> => {
    clearTimeout(timer);
    let pauseMs = LIST_EVERY_MS;
    try {
      await read();
    } catch (error) {
      pauseMs = LIST_AGAIN_MS;
      service.log.warn({ err: { message: (error as Error).message } }, `${what} are not known`);
    }
    timer = setTimeout(again, pauseMs).unref();
  };
  /** A list that is under way proves nothing, because it may have been read before the change. */
  const again = (): Promise<void> => {
    next ??= running.then(() => {
      next = undefined;
      running = list();
      return running;
    });
    return next;
  };
  await again();
  service.onStop(what, () => clearTimeout(timer));
  return again;
}
