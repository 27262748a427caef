import {
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { retryUntilStopped } from './retry.ts';
import type { Service } from './service.ts';

export interface Nats {
  connection: NatsConnection;
  js: JetStreamClient;
  manager: JetStreamManager;
}

/** One connection for the life of the process, which comes back by itself; returns when JetStream answers. */
export async function connectNats(service: Service, servers: string): Promise<Nats> {
  const connection = await retryUntilStopped(
    'NATS',
    () =>
      connect({
        servers: servers.split(','),
        name: `brand-data-${service.name}`,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 250,
        pingInterval: 2_000,
        maxPingOut: 2,
        timeout: 3_000,
      }),
    service,
  );
  service.onStop('nats', async () => {
    // A drain flushes what is still to be sent; on a lost connection there is nothing to flush to.
    await connection.drain().catch(() => connection.close());
  });
  const manager = await retryUntilStopped('JetStream', () => jetstreamManager(connection), service);
  return { connection, js: jetstream(connection), manager };
}

/** Creates the stream, or brings it to these settings. Retryable by itself: any replica may do it at any time. */
export async function ensureStream(
  service: Service,
  nats: Nats,
  config: Partial<StreamConfig> & { name: string; subjects: string[] },
): Promise<void> {
  await retryUntilStopped(
    `stream ${config.name}`,
    async () => {
      const exists = await nats.manager.streams.info(config.name).then(
        () => true,
        (error: { code?: number }) => {
          if (error.code === 10_059 || error.code === 404) return false;
          throw error;
        },
      );
      if (exists) await nats.manager.streams.update(config.name, config);
      else await nats.manager.streams.add(config);
    },
    service,
  );
}
