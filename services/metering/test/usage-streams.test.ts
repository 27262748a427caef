import { setTimeout as delay } from 'node:timers/promises';
import {
  DEAD_LETTER_STREAM,
  DEAD_LETTER_SUBJECTS,
  USAGE_CONSUMER,
  UsageEvent,
  usageStream,
} from '@brand-data/contracts';
import { startNatsCluster } from '@brand-data/testing/clusters';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { DiscardPolicy, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll } from 'vitest';
import { simulatedStreams } from './simulated-streams.ts';
import { streamsOn } from './streams-on-nats.ts';
import {
  type CopiedStreams,
  lostLeaderContract,
  type StreamsUnderTest,
  usageStreamsContract,
} from './usage-streams.contract.ts';

const { name: STREAM, subjects, subjectOf } = usageStream(1);
let server: TestServer;

beforeAll(async () => {
  server = await startTestNats();
});

afterAll(async () => {
  await server?.stop();
});

usageStreamsContract('on a nats-server', () => onNats(server.url));
usageStreamsContract('of the simulation', simulatedStreams);
lostLeaderContract('on three nats-servers', onThreeNatsServers);
lostLeaderContract('of the simulation, copied', simulatedStreams);

async function onThreeNatsServers(): Promise<CopiedStreams> {
  const cluster = await startNatsCluster(await temporaryFolder());
  const under = await onNats(cluster.url.split(','), 3);
  return {
    ...under,
    loseLeader: async () => {
      const leader = await under.consumerLeader();
      await cluster.members.get(leader ?? '')?.kill();
    },
    close: async () => {
      await under.close();
      await cluster.stop();
    },
  };
}

async function onNats(
  servers: string | string[],
  replicas = 1,
): Promise<StreamsUnderTest & { consumerLeader(): Promise<string | undefined> }> {
  const connection = await connect({ servers, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  const manager = await jetstreamManager(connection);
  const js = jetstream(connection);
  await emptied(manager);
  await manager.streams.add({ name: DEAD_LETTER_STREAM, subjects: [DEAD_LETTER_SUBJECTS] });
  const { streams } = await streamsOn(connection, { replicas });
  (await streams.open(usageStream(1))).close();
  return {
    connect: async () => (await streamsOn(connection, { replicas })).streams,
    publish: async (event, msgID) => {
      const payload = event ? UsageEvent.encode(event).finish() : new TextEncoder().encode('strange');
      const options = { timeout: 2_000, ...(msgID !== undefined && { msgID }) };
      return (await js.publish(subjectOf('h'), payload, options)).seq;
    },
    nowMs: () => performance.now(),
    sleep: (ms) => delay(ms),
    setSmall: async (isSmall) => {
      await manager.streams.update(STREAM, {
        subjects: [subjects],
        discard: DiscardPolicy.New,
        max_msgs: isSmall ? 12 : -1,
      });
    },
    deleteConsumer: async () => {
      await manager.consumers.delete(STREAM, USAGE_CONSUMER);
    },
    deadLetters: async () => (await manager.streams.info(DEAD_LETTER_STREAM)).state.messages,
    consumerLeader: async () => (await manager.consumers.info(STREAM, USAGE_CONSUMER)).cluster?.leader,
    close: () => connection.close(),
  };
}

async function emptied(manager: JetStreamManager): Promise<void> {
  for (const stream of [STREAM, DEAD_LETTER_STREAM]) await manager.streams.delete(stream).catch(() => {});
}
