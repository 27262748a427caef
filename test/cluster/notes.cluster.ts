import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHART, createNamespace, type Namespace, RELEASE, setting, valuesOf, WAIT } from './cluster.ts';
import { type Dependencies, startDependencies } from './dependencies.ts';
import { followNotes } from './notes.ts';

describe('a plain install, with a MongoDB and a NATS given by URL', () => {
  let servers: Namespace;
  let dependencies: Dependencies;
  let namespace: Namespace;

  beforeAll(async () => {
    servers = await createNamespace('servers');
    namespace = await createNamespace('plain');
    dependencies = await startDependencies(servers);
  });

  afterAll(async () => {
    await Promise.all([namespace?.delete(), servers?.delete()]);
  });

  test('leads, by the commands that it prints, to a token and the record that it asks for', async () => {
    const values = setting(
      `mongodb.url=${dependencies.mongodbUrl}`,
      `nats.url=${dependencies.natsUrl}`,
      'gateway.logoHost=https://logos.example.com',
    );
    await namespace.helm('install', RELEASE, CHART, ...WAIT, ...valuesOf(), ...values);
    const stdout = await followNotes(namespace);
    const record = JSON.parse(stdout.slice(stdout.lastIndexOf('\n{') + 1)) as Record<string, unknown>;
    expect(record).toMatchObject({ name: 'Apple' });
  });
});
