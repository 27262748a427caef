import { PARKED_USAGE, type UsageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import type { UsageConsumer } from './usage-consumer.ts';
import { MESSAGES_AT_ONCE, type UsageStreams } from './usage-streams.ts';

const POLL_MS = 10;
const LONGEST_POLL_MS = 200;

const FLUSHED_WITHIN_MS = 1_000;
/** Longer, because messages gather for half a second before they are applied. */
const GATHERED_WITHIN_MS = 1_500;
const SHARED_FOR_MS = 500;

/**
 * The ids of the grants whose usage may be parked. All usage of other grants is applied. undefined: other messages are not applied
 * either, or the streams do not answer.
 */
export type Parked = ReadonlySet<string> | undefined;

type Streams = Pick<UsageStreams, 'list' | 'acknowledgedUpTo' | 'readParked'>;

/** Waits until every message of the usage streams is applied, by any replica, or parked. Resolves to undefined if that takes too long. */
export type CatchUp = ReturnType<typeof catchUpWith>;

export function catchUpWith({
  streams,
  clock,
  consumer,
}: {
  streams: Streams & Pick<UsageStreams, 'lastSequence'>;
  clock: Clock;
  consumer: Pick<UsageConsumer, 'flushImmediatelyFor'>;
}) {
  const within = (withinMs: number): Promise<Parked> => {
    const applied = appliedUpTo((stream) => streams.lastSequence(stream), { streams, clock, withinMs });
    return Promise.race([applied.catch(() => undefined), clock.sleep(withinMs).then(() => undefined)]);
  };
  let shared: { sinceMs: number; applied: Promise<Parked> } | undefined;
  return {
    /**
     * Catches up with the messages of before the call. Ends the gathering of messages, which costs a write for each message.
     * Therefore only operators' calls use it.
     */
    now: () => {
      consumer.flushImmediatelyFor(FLUSHED_WITHIN_MS);
      return within(FLUSHED_WITHIN_MS);
    },
    /**
     * Catches up with the messages of a moment up to half a second before the call. Messages go on gathering, and all calls within
     * half a second share one look at the streams. Therefore callers of the public API cannot cause more work than this, however
     * many they are.
     */
    recently: () => {
      const nowMs = clock.now().monotonicMs;
      if (!shared || nowMs - shared.sinceMs >= SHARED_FOR_MS)
        shared = { sinceMs: nowMs, applied: within(GATHERED_WITHIN_MS) };
      return shared.applied;
    },
  };
}

/** Waits until the messages of all usage streams, each up to this sequence, are applied or parked, but only for this time. */
export async function appliedUpTo(
  sequenceOf: (stream: UsageStream) => Promise<number>,
  on: { streams: Streams; clock: Clock; withinMs: number },
): Promise<Parked> {
  const { streams, clock, withinMs } = on;
  const usage = (await streams.list()).filter(({ name }) => name !== PARKED_USAGE.name);
  const sequences = await Promise.all(usage.map(sequenceOf));
  const beganMs = clock.now().monotonicMs;
  const isLateIn = (ms: number): boolean => clock.now().monotonicMs - beganMs + ms > withinMs;
  /** Repeats a look until it returns true. Resolves to false if that takes too long. */
  const until = async (look: () => Promise<boolean>): Promise<boolean> => {
    for (let pauseMs = POLL_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_POLL_MS)) {
      if (await look()) return true;
      if (isLateIn(pauseMs)) return false;
      await clock.sleep(pauseMs);
    }
  };
  const isApplied = async (stream: UsageStream, index: number): Promise<boolean> =>
    (await streams.acknowledgedUpTo(stream)) >= (sequences[index] ?? 0);
  const areApplied = usage.map((stream, index) => until(() => isApplied(stream, index)));
  if (!(await Promise.all(areApplied)).every(Boolean)) return undefined;

  // Every message that was parked is now before this one. A copy of the stream that has this one has all of them.
  const last = await sequenceOf(PARKED_USAGE);
  const parked = new Set<string>();
  let readUpTo = 0;
  const isRead = async (): Promise<boolean> => {
    readUpTo = Math.max(readUpTo, await streams.acknowledgedUpTo(PARKED_USAGE));
    // Reads on at once while there are more messages: with a pause after each answer, a few messages a second would be too many.
    for (let isFull = true; isFull && readUpTo < last && !isLateIn(0); ) {
      const found = await streams.readParked(readUpTo + 1, MESSAGES_AT_ONCE);
      for (const { grantIds } of found) for (const grantId of grantIds) parked.add(grantId);
      readUpTo = found.at(-1)?.sequence ?? readUpTo;
      isFull = found.length === MESSAGES_AT_ONCE;
    }
    return readUpTo >= last;
  };
  return (await until(isRead)) ? parked : undefined;
}
