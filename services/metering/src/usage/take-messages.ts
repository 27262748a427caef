import type { Gathering } from './gathering.ts';
import type { MessagesInHand } from './messages-in-hand.ts';
import type { UsageBatches } from './usage-batch.ts';
import type { Peek } from './usage-peek.ts';
import { MESSAGES_AT_ONCE, type UsageMessage, type UsageMessages } from './usage-streams.ts';

/**
 * Takes messages in batches until the consumer is gone or closed, not faster than they are applied. If the store cannot be
 * reached, closes the consumer, so that other replicas get the messages. Rejects if the deliveries fail.
 */
export async function takeMessages(
  messages: UsageMessages,
  {
    batches,
    gathering,
    inHand,
    peek,
  }: { batches: UsageBatches; gathering: Gathering; inHand: MessagesInHand; peek: Peek },
): Promise<void> {
  let waiting: UsageMessage[] = [];
  let applying: Promise<void> | undefined;

  const applyWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      await gathering.wait(() => waiting.length >= MESSAGES_AT_ONCE);
      const batch = waiting;
      waiting = [];
      const isStored = await batches.apply(batch);
      inHand.remove(batch);
      if (isStored) continue;
      messages.close();
      batches.giveBack(waiting);
      waiting = [];
      inHand.clear();
    }
    applying = undefined;
  };

  try {
    for await (const message of messages) {
      peek.seen(message.sequence);
      waiting.push(message);
      inHand.add(message);
      applying ??= applyWaiting();
      if (waiting.length >= MESSAGES_AT_ONCE) {
        gathering.flush();
        await applying;
      }
    }
  } finally {
    peek.stop();
    await applying;
  }
}
