import { type UsageEvent, usageStream } from '@brand-data/contracts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ACK_WAIT_MS, type UsageMessage, type UsageStreams } from '../src/usage/usage-streams.ts';

/** Empty streams, and what can be done to them from outside. */
export interface StreamsUnderTest {
  /** The streams as one replica uses them. */
  connect(): Promise<UsageStreams>;
  /** Publishes as a gateway does. undefined: a message that is not a usage event. */
  publish(event: UsageEvent | undefined, messageId?: string): Promise<number>;
  /** The time by the streams' clock. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** Limits the stream to a few messages, or removes the limit. */
  setSmall(isSmall: boolean): Promise<void>;
  deleteConsumer(): Promise<void>;
  /** The number of dead letters. */
  deadLetters(): Promise<number>;
  close(): Promise<void>;
}

const STREAM = usageStream(1);
const MARKER: UsageEvent = { holder: 'h', usage: [] };
const SMALL_MESSAGES = 12;

/** The behaviour that metering relies on, of real and of simulated streams. */
export function usageStreamsContract(name: string, start: () => Promise<StreamsUnderTest>): void {
  describe(`usage streams ${name}`, () => {
    let under: StreamsUnderTest;
    let streams: UsageStreams;
    beforeEach(async () => {
      under = await start();
      streams = await under.connect();
    });
    afterEach(() => under.close());

    const { publish, take, until, untilAcknowledged } = actionsOn(() => ({ under, streams }));

    test('keep a message once, however often it is published with its id', async () => {
      expect(await under.publish(MARKER, 'a')).toBe(1);
      expect(await under.publish(MARKER, 'a')).toBe(1);
      expect(await under.publish(MARKER, 'b')).toBe(2);
      expect(await streams.lastSequence(STREAM)).toBe(2);
    });

    test('deliver their messages in order, each with its content', async () => {
      await publish(3);
      await under.publish(undefined);
      const { taken, upTo } = await take();
      await upTo(4);
      expect(taken.map(({ sequence, deliveries }) => [sequence, deliveries])).toEqual([
        [1, 1],
        [2, 1],
        [3, 1],
        [4, 1],
      ]);
      expect(taken.map(({ usage }) => usage?.length)).toEqual([0, 0, 0, undefined]);
    });

    test('are acknowledged up to the first message that is not', async () => {
      const { taken, upTo } = await take();
      await publish(3);
      await upTo(3);
      taken[1]?.ack();
      taken[2]?.ack();
      await under.sleep(100);
      expect(await streams.acknowledgedUpTo(STREAM)).toBe(0);
      taken[0]?.ack();
      await untilAcknowledged(3);
    });

    test('deliver a message again that is not acknowledged in time, and count the deliveries', async () => {
      const { taken, upTo } = await take();
      await publish(1);
      await upTo(1);
      const sinceMs = under.nowMs();
      await upTo(2);
      const afterMs = under.nowMs() - sinceMs;
      expect(afterMs).toBeGreaterThan(ACK_WAIT_MS * 0.8);
      expect(afterMs).toBeLessThan(ACK_WAIT_MS * 3);
      expect(taken[1]).toMatchObject({ sequence: 1, deliveries: 2 });
    });

    test('do not deliver a message again that is reported as being worked on', async () => {
      const { taken, upTo } = await take();
      await publish(1);
      await upTo(1);
      for (let half = 0; half < 4; half++) {
        await under.sleep(ACK_WAIT_MS / 2);
        taken[0]?.working();
      }
      expect(taken).toHaveLength(1);
      taken[0]?.ack();
      await untilAcknowledged(1);
    });

    test('deliver a message again that is given back, after the requested time', async () => {
      const { taken, upTo } = await take();
      await publish(1);
      await upTo(1);
      const sinceMs = under.nowMs();
      taken[0]?.nak(600);
      await upTo(2);
      const afterMs = under.nowMs() - sinceMs;
      expect(afterMs).toBeGreaterThan(500);
      expect(afterMs).toBeLessThan(ACK_WAIT_MS);
      expect(await streams.acknowledgedUpTo(STREAM)).toBe(0);
    });

    test('never deliver a terminated message again, and count it as acknowledged', async () => {
      const { taken, upTo } = await take();
      await publish(1);
      await upTo(1);
      taken[0]?.term('unreadable');
      await untilAcknowledged(1);
      await under.sleep(ACK_WAIT_MS * 1.5);
      expect(taken).toHaveLength(1);
    });

    test('answer a read of messages that are not there yet with nothing', async () => {
      await publish(2);
      await until(async () => (await streams.read(STREAM, 2, 10)).length === 1);
      expect(await streams.read(STREAM, 3, 10)).toEqual([]);
    });

    test('put a marker after all other messages', async () => {
      await publish(2);
      expect(await streams.mark(STREAM, 'settler')).toBe(3);
    });

    test('keep one copy of a dead letter, however often it is sent', async () => {
      const { taken, upTo } = await take();
      await under.publish(undefined);
      await upTo(1);
      const [message] = taken;
      if (!message) throw new Error('nothing came');
      await streams.deadLetter(message, 'unreadable');
      await streams.deadLetter(message, 'unreadable');
      expect(await under.deadLetters()).toBe(1);
    });

    test('refuse messages when they are full, and accept more once there is room', async () => {
      const { taken, upTo } = await take();
      await under.setSmall(true);
      await publish(SMALL_MESSAGES);
      await expect(under.publish(MARKER)).rejects.toThrow();
      await expect(streams.mark(STREAM, 'settler')).rejects.toThrow();
      await upTo(SMALL_MESSAGES);
      for (const message of taken) message.ack();
      await untilAcknowledged(SMALL_MESSAGES);
      expect(await streams.purge(STREAM, 5)).toBe(4);
      expect(await streams.fill(STREAM)).toMatchObject({ firstSequence: 5, lastSequence: SMALL_MESSAGES });
      expect(await under.publish(MARKER)).toBe(SMALL_MESSAGES + 1);
    });

    test('count purged messages as acknowledged', async () => {
      await publish(4);
      await streams.purge(STREAM, 5);
      await untilAcknowledged(4);
    });

    test('deliver the unacknowledged messages of a replica that closed to another', async () => {
      const first = await take();
      await publish(3);
      await first.upTo(3);
      first.messages.close();
      await until(first.isOver);
      const second = await take(await under.connect());
      await second.upTo(3);
      expect(second.taken.map(({ sequence }) => sequence).sort()).toEqual([1, 2, 3]);
    });

    test('end their deliveries when the consumer is deleted, and deliver all messages again once it is opened', async () => {
      const first = await take();
      await publish(2);
      await first.upTo(2);
      first.taken[0]?.ack();
      await untilAcknowledged(1);
      await under.deleteConsumer();
      await until(first.isOver);
      const second = await take();
      await second.upTo(2);
      expect(second.taken.map(({ sequence, deliveries }) => [sequence, deliveries])).toEqual([
        [1, 1],
        [2, 1],
      ]);
    });
  });
}

/** Streams of which several servers keep copies. */
export interface CopiedStreams extends StreamsUnderTest {
  /** Removes the server that leads the consumer. It may lead the stream too. */
  loseLeader(): Promise<void>;
}

export function lostLeaderContract(name: string, start: () => Promise<CopiedStreams>): void {
  describe(`usage streams ${name}`, { timeout: 120_000 }, () => {
    let under: CopiedStreams;
    let streams: UsageStreams;
    beforeAll(async () => {
      under = await start();
      streams = await under.connect();
    });
    afterAll(() => under?.close());
    const { publish, take, until, untilAcknowledged } = actionsOn(() => ({ under, streams }));

    test('can be read while their consumer has no leader, and deliver all messages once it has another', async () => {
      const { taken, upTo, messages } = await take();
      await publish(3);
      await upTo(3);
      for (const message of taken) message.ack();
      await untilAcknowledged(3);
      await under.loseLeader();
      await until(() => publish(1).then(...SUCCEEDS));
      // Nothing is silent if a new leader delivers at once.
      let isSilent = false;
      void messages.untilSilent().then(() => {
        isSilent = true;
      });
      await until(() => isSilent || taken.some(({ sequence }) => sequence === 4));
      const lies = async () => (await streams.read(STREAM, 4, 10)).map(({ sequence }) => sequence);
      await until(async () => (await lies().catch((): number[] => [])).includes(4));
      await until(() => taken.some(({ sequence }) => sequence === 4));
      for (const message of taken) message.ack();
      await until(async () => (await streams.acknowledgedUpTo(STREAM).catch(() => 0)) >= 4);
    });
  });
}

const SUCCEEDS = [() => true, () => false] as const;

function actionsOn(on: () => { under: StreamsUnderTest; streams: UsageStreams }) {
  const publish = async (messages: number): Promise<void> => {
    for (let sent = 0; sent < messages; sent++) await on().under.publish(MARKER);
  };

  /** Takes messages from now on. */
  const take = async (from = on().streams) => {
    const messages = await from.open(STREAM);
    const taken: UsageMessage[] = [];
    let isOver = false;
    void (async () => {
      for await (const message of messages) taken.push(message);
      isOver = true;
    })();
    const upTo = (count: number) => until(() => taken.length >= count);
    return { taken, upTo, messages, isOver: () => isOver };
  };

  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    const lateMs = on().under.nowMs() + 20_000;
    while (!(await holds())) {
      if (on().under.nowMs() > lateMs) throw new Error('it does not come to be');
      await on().under.sleep(20);
    }
  };
  const untilAcknowledged = (sequence: number) =>
    until(async () => (await on().streams.acknowledgedUpTo(STREAM)) === sequence);
  return { publish, take, until, untilAcknowledged };
}
