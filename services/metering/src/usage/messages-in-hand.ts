import type { Clock } from '@brand-data/runtime';
import { ACK_WAIT_MS, type UsageMessage } from './usage-streams.ts';

/** A message in hand for so long is still being worked on; looked at twice in this time. */
const WORKING_AFTER_MS = ACK_WAIT_MS / 2;

/** Messages that were delivered and have no answer yet. */
export interface MessagesInHand {
  add(message: UsageMessage): void;
  remove(messages: readonly UsageMessage[]): void;
  clear(): void;
  isEmpty(): boolean;
}

/** Tells the stream of each message in hand that it is still being worked on, so that it is not delivered again. */
export function createMessagesInHand(clock: Clock): MessagesInHand {
  /** Since when each is in hand, or when the stream was last told of it. */
  const toldMs = new Map<UsageMessage, number>();
  let isKeeping = false;
  const keep = async (): Promise<void> => {
    isKeeping = true;
    while (toldMs.size > 0) {
      await clock.sleep(WORKING_AFTER_MS / 2);
      const { monotonicMs } = clock.now();
      for (const [message, sinceMs] of toldMs) {
        if (monotonicMs - sinceMs < WORKING_AFTER_MS) continue;
        message.working();
        toldMs.set(message, monotonicMs);
      }
    }
    isKeeping = false;
  };
  return {
    add: (message) => {
      toldMs.set(message, clock.now().monotonicMs);
      if (!isKeeping) void keep();
    },
    remove: (messages) => {
      for (const message of messages) toldMs.delete(message);
    },
    clear: () => toldMs.clear(),
    isEmpty: () => toldMs.size === 0,
  };
}
