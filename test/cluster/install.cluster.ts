import { SERVICES } from '@brand-data/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CHART,
  createNamespace,
  installQuickstart,
  type Namespace,
  RELEASE,
  setting,
  valuesOf,
} from './cluster.ts';
import { followNotes } from './notes.ts';

describe('an install', () => {
  let namespace: Namespace;

  beforeAll(async () => {
    namespace = await createNamespace('install');
  });

  afterAll(() => namespace?.delete());

  test.each([
    ['gateway.replicas', ['gateway.replicas=-1'], /\/gateway\/replicas'/],
    ['mongodb.url', ['mongodb.url=', 'nats.url=nats://nats:4222'], /mongodb\.url/],
    ['gateway.replica', ['gateway.replica=3'], /'replica' not allowed/],
  ])('with a wrong %s is refused by that name, before anything is there', async (_, values, message) => {
    const settings = [
      'gateway.logoHost=https://logos.example.com',
      'mongodb.url=mongodb://db/',
      'nats.url=nats://n:4222',
    ];
    const flags = setting(...settings, ...values);
    const refused = namespace.helm('install', RELEASE, CHART, '--wait', ...valuesOf(), ...flags);
    await expect(refused).rejects.toThrow(message);
    expect(await namespace.kubectl('get', 'all,configmaps,secrets', '--output', 'name')).toBe(
      'configmap/kube-root-ca.crt\n',
    );
  });

  test('of the quickstart is ready, and its own test makes a call that is answered and billed', async () => {
    const tookMs = await installQuickstart(namespace);
    console.log(`helm install --wait: ${(tookMs / 1_000).toFixed(0)} s`);
    for (const component of SERVICES) expect(await namespace.readyPods(component)).toHaveLength(2);
    const said = await namespace.helm('test', RELEASE, '--logs', '--timeout', '3m');
    expect(said).toContain('ok: AAPL is answered with a record');
    expect(said).toContain('ok: the call is billed, once');
    expect(said).toContain('ok: the logo of the record is an image');
  });

  test('leads, by the commands that it prints, to a record and to its logo at the public address', async () => {
    const fetchLogos = `grep -o 'src="[^"]*"' logos.html | cut -d '"' -f 2 | while read -r URL; do
      curl --silent --fail --retry 10 --retry-connrefused --output logo --write-out '%{content_type} %{url}\\n' "$URL"
    done`;
    const stdout = await followNotes(namespace, 'echo', fetchLogos);
    expect(stdout).toContain('"name":"Apple"');
    const logos = stdout.split('\n').filter((line) => line.startsWith('image/'));
    expect(logos).toHaveLength(3);
    for (const logo of logos)
      expect(logo).toMatch(/^image\/svg\+xml http:\/\/127\.0\.0\.1:8081\/images\/logos\//);
  });

  test('admits no pod that breaks the restricted profile', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'privileged' },
      spec: { containers: [{ name: 'it', image: 'node', securityContext: { privileged: true } }] },
    };
    await expect(namespace.apply(pod)).rejects.toThrow(/violates PodSecurity "restricted/);
  });
});
