import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@brand-data/runtime';

const PAUSE_MS = 500;
/** How often in succession a stream may break before its first message. */
const TRIES = 10;

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
