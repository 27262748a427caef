import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageStream } from '@brand-data/contracts';
import { startNatsServer } from '@brand-data/servers';
import { startNatsCluster } from '@brand-data/testing/clusters';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, expect, test } from 'vitest';

const MEASURE_MS = 8_000;
/** As large as a message with the usage of a few grants. */
const MESSAGE = randomBytes(300);
const IN_FLIGHT = [1, 64, 400];

const lines: string[] = [];
afterAll(() => console.log(lines.join('\n')));

const KINDS = [
  {
    name: 'R1, one nats-server',
    replicas: 1,
    start: async (dataDir: string) => startNatsServer({ dataDir }),
  },
  { name: 'R3, three nats-servers', replicas: 3, start: (dataDir: string) => startNatsCluster(dataDir) },
];

test.each(KINDS)(
  'synced publishes on $name',
  async ({ name, replicas, start }) => {
    const folder = await mkdtemp(join(tmpdir(), 'publish-bench-'));
    const server = await start(folder);
    const connection = await connect({ servers: server.url.split(',') });
    try {
      const { name: stream, subjects, subjectOf } = usageStream(1);
      const manager = await jetstreamManager(connection);
      await manager.streams.add({ name: stream, subjects: [subjects], num_replicas: replicas });
      const js = jetstream(connection);
      for (const inFlight of IN_FLIGHT) {
        const latencies: number[] = [];
        const began = performance.now();
        const publish = async (): Promise<void> => {
          while (performance.now() - began < MEASURE_MS) {
            const sent = performance.now();
            await js.publish(subjectOf('bench'), MESSAGE, { timeout: 10_000 });
            latencies.push(performance.now() - sent);
          }
        };
        await Promise.all(Array.from({ length: inFlight }, publish));
        latencies.sort((a, b) => a - b);
        const at = (share: number) => latencies[Math.floor(latencies.length * share)]?.toFixed(1);
        const perSecond = Math.round((latencies.length / (performance.now() - began)) * 1_000);
        lines.push(`${name}, ${inFlight} in flight: ${perSecond}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
        expect(latencies.length).toBeGreaterThan(inFlight);
      }
    } finally {
      await connection.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  },
  120_000,
);
