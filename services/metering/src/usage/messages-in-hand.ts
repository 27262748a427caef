import type { Clock } from '@brand-data/runtime';
import { ACK_WAIT_MS, type UsageMessage } from './usage-streams.ts';

/** How often metering reports to the stream that it is still working on a message. */
const WORKING_AFTER_MS = ACK_WAIT_MS / 2;

/** Messages that were delivered to this process and are not acknowledged or given back yet. */
export interface MessagesInHand {
  add(message: UsageMessage): void;
  remove(messages: readonly UsageMessage[]): void;
  clear(): void;
  isEmpty(): boolean;
}

/** Tells the stream that messages in hand are still being worked on, so that it does not deliver them again. */
export function createMessagesInHand(clock: Clock): MessagesInHand {
  /** When each message was delivered or was last reported to the stream. */
  const reportedMs = new Map<UsageMessage, number>();
  let isKeeping = false;
  const keep = async (): Promise<void> => {
    isKeeping = true;
    while (reportedMs.size > 0) {
      await clock.sleep(WORKING_AFTER_MS / 2);
      const { monotonicMs } = clock.now();
      for (const [message, sinceMs] of reportedMs) {
        if (monotonicMs - sinceMs < WORKING_AFTER_MS) continue;
        message.working();
        reportedMs.set(message, monotonicMs);
      }
    }
    isKeeping = false;
  };
  return {
    add: (message) => {
      reportedMs.set(message, clock.now().monotonicMs);
      if (!isKeeping) void keep();
    },
    remove: (messages) => {
      for (const message of messages) reportedMs.delete(message);
    },
    clear: () => reportedMs.clear(),
    isEmpty: () => reportedMs.size === 0,
  };
}
