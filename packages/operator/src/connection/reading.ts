import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@brand-data/runtime';

const PAUSE_MS = 500;
/** How often in succession a stream may break before its first message. */
const TRIES = 10;

/**
 * Reads the pages of a list, until there is no further item or `limit` items are read. `next` is where the next page begins. Empty: there
 * is none.
 *
 * @param name the field of a page that has its items
 */
export async function readPages<
  Name extends string,
  Page extends { next: string } & Readonly<Record<Name, readonly unknown[]>>,
>(
  name: Name,
  read: (page: { limit: number; after: string }) => Promise<Page>,
  { limit = Number.POSITIVE_INFINITY, after = '', pageSize = 0 } = {},
): Promise<{ items: Page[Name][number][]; next: string }> {
  const items: Page[Name][number][] = [];
  let next = after;
  do {
    const page = await read({ limit: Math.min(limit - items.length, pageSize), after: next });
    items.push(...page[name]);
    next = page.next;
  } while (next !== '' && items.length < limit);
  return { items, next };
}

/**
 * Yields the messages of a stream that may break off. If it does, the stream is asked for again from its last message.
 *
 * @param read asks for the messages after the message with this `after`, from the start if it is empty
 * @param first `after` of the first question
 */
export async function* resumedStream<Message extends { after: string }>(
  read: (after: string) => AsyncIterable<Message>,
  first = '',
): AsyncGenerator<Message> {
  let after = first;
  for (let failures = 0; ; ) {
    try {
      for await (const message of read(after)) {
        yield message;
        after = message.after;
        failures = 0;
      }
      return;
    } catch (error) {
      failures++;
      if (!(error instanceof Fault) || error.kind !== 'unavailable' || failures === TRIES) throw error;
    }
    await delay(PAUSE_MS * failures);
  }
}
