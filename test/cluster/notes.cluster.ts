import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CHART,
  CLUSTER_IMAGES,
  createNamespace,
  type Namespace,
  RELEASE,
  setting,
  valuesOf,
  WAIT,
  waitFor,
} from './cluster.ts';
import { followNotes } from './notes.ts';

const { MONGODB_IMAGE = 'mongo:6.0', NATS_IMAGE = 'nats:2.15-alpine' } = process.env;

describe('a plain install, with a MongoDB and a NATS given by URL', () => {
  let servers: Namespace;
  let namespace: Namespace;

  beforeAll(async () => {
    servers = await createNamespace('servers');
    namespace = await createNamespace('plain');
    await startServers();
  });

  afterAll(async () => {
    await Promise.all([namespace?.delete(), servers?.delete()]);
  });

  test('leads, by the commands that it prints, to a token and the record that it asks for', async () => {
    const values = setting(
      `mongodb.url=mongodb://${address('mongodb', 27017)}/?replicaSet=brand-data`,
      `nats.url=nats://${address('nats', 4222)}`,
      'gateway.logoHost=https://logos.example.com',
    );
    await namespace.helm('install', RELEASE, CHART, ...WAIT, ...valuesOf(), ...values);
    const stdout = await followNotes(namespace);
    const record = JSON.parse(stdout.slice(stdout.lastIndexOf('\n{') + 1)) as Record<string, unknown>;
    expect(record).toMatchObject({ name: 'Apple' });
  });

  const address = (name: string, port: number) => `${name}.${servers.name}.svc.cluster.local:${port}`;

  /** Installs a MongoDB and a NATS as an operator may have them. Their data is lost with their pods. */
  async function startServers(): Promise<void> {
    const script = `${CHART}/files/scripts/initiate-replica-set.mjs`;
    await servers.kubectl('create', 'configmap', 'initiate', `--from-file=initiate.mjs=${script}`);
    await servers.applyFile('servers.yaml', {
      mongodb: address('mongodb', 27017),
      mongodbImage: MONGODB_IMAGE,
      natsImage: NATS_IMAGE,
      initiateImage: `${CLUSTER_IMAGES.repository}/accounts:${CLUSTER_IMAGES.tag}`,
    });
    await waitFor('MongoDB takes writes, and NATS is there', async () => {
      const phase = await servers.kubectl('get', 'pod/initiate', '--output', 'jsonpath={.status.phase}');
      return phase === 'Succeeded' && (await servers.readyPods('nats')).length === 1;
    });
  }
});
