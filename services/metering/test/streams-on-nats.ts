import { createLogger, type Service, systemClock } from '@brand-data/runtime';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Senders } from '../src/ledger/senders.ts';
import { natsUsageStreams, type UsageStreamSettings } from '../src/usage/nats-usage-streams.ts';
import type { UsageStreams } from '../src/usage/usage-streams.ts';

/** Returns the service's own streams on a test's connection. */
export async function streamsOn(
  connection: NatsConnection,
  settings: Partial<UsageStreamSettings> = {},
): Promise<{ streams: UsageStreams; manager: JetStreamManager }> {
  const manager = await jetstreamManager(connection);
  const service = { log: createLogger('test', 'silent'), signal: new AbortController().signal };
  const streams = natsUsageStreams(
    service as Service,
    { js: jetstream(connection), manager },
    { streams: 1, maxBytes: -1, replicas: 1, ...settings },
    new Senders(systemClock),
  );
  return { streams, manager };
}
