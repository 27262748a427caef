import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PeerCertificate } from 'node:tls';
import { mongodProcess, REPLICA_SET, startNatsServer } from '@brand-data/servers';
import { newAuthority, newCertificate } from '@brand-data/servers/certificate-maker';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { configSpec, databaseSpec, NATS_CA, parseConfig } from '../src/config/config.ts';
import { connectMongo } from '../src/mongo/connect.ts';
import { connectNats, identityCheck } from '../src/nats/nats.ts';
import { Readiness } from '../src/observe/readiness.ts';
import type { Service } from '../src/service/service.ts';

const VALID = { nowMs: Date.now(), days: 30 };
/** The only name in the servers' certificates. The servers listen on 127.0.0.1, which is not in them. */
const NAME = 'localhost';

const ports = { NATS: 0, MongoDB: 0, misnamedNats: 0 };
/** The paths of files with the authorities that a service trusts. */
const bundles = { right: '', other: '', both: '' };
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  const folder = await temporaryFolder();
  const [authority, other] = await Promise.all([newAuthority(VALID), newAuthority(VALID)]);
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  bundles.right = await write('right.pem', authority.cert);
  bundles.other = await write('other.pem', other.cert);
  bundles.both = await write('both.pem', `${other.cert}${authority.cert}`);
  const nats = async (kind: 'NATS' | 'misnamedNats', name: string) => {
    const { cert, key } = await newCertificate(authority, [name], VALID);
    const paths = [await write(`${kind}.crt`, cert), await write(`${kind}.key`, key)];
    const settings = [`tls { cert_file: "${paths[0]}", key_file: "${paths[1]}" }`];
    const { port, stop } = await startNatsServer({ dataDir: join(folder, kind), settings });
    ports[kind] = port;
    ends.push(stop);
  };
  const mongod = async () => {
    const { cert, key } = await newCertificate(authority, [NAME], VALID);
    const file = await write('mongod.pem', `${cert}${key}`);
    const args = ['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', file, '--tlsCAFile', bundles.right];
    const { port, child } = await mongodProcess({
      dataDir: join(folder, 'mongod'),
      args: [...args, '--tlsAllowConnectionsWithoutCertificates'],
      ready: isPrimary,
    });
    ports.MongoDB = port;
    ends.push(() => child.stop());
    await child.start();
  };
  await Promise.all([nats('NATS', NAME), nats('misnamedNats', 'elsewhere.test'), mongod()]);
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** Whether the mongod accepts writes. Creates the replica set, whose only member has the name in the certificate. */
async function isPrimary(port: number): Promise<boolean> {
  const host = `${NAME}:${port}`;
  const client = new MongoClient(`mongodb://${host}/?directConnection=true&tls=true`, {
    tlsCAFile: bundles.right,
    serverSelectionTimeoutMS: 5_000,
  });
  try {
    const admin = client.db('admin');
    const { isWritablePrimary, setName } = await admin.command({ hello: 1 });
    if (setName === undefined)
      await admin.command({ replSetInitiate: { _id: REPLICA_SET, members: [{ _id: 0, host }] } });
    return isWritablePrimary === true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

const KINDS = ['NATS', 'MongoDB'] as const;
type Kind = (typeof KINDS)[number];

const CONNECT = {
  NATS: (service: Service, host: string, bundle: string | undefined, port = ports.NATS) => {
    const environment = { NATS_URL: `tls://${host}:${port}`, NATS_CA_FILE: bundle };
    return connectNats(service, parseConfig(environment, { NATS_URL: configSpec.natsUrl(), NATS_CA }));
  },
  MongoDB: (service: Service, host: string, bundle: string | undefined, port = ports.MongoDB) => {
    const query = `tls=true&replicaSet=${REPLICA_SET}`;
    const environment = {
      MONGODB_URL: `mongodb://${host}:${port}/?${query}`,
      MONGODB_CA_FILE: bundle,
    };
    const settings = parseConfig(environment, databaseSpec('test'));
    return connectMongo(service, settings, 'test');
  },
};

/** Starts a service that needs one server, and becomes ready as `runService` lets it. */
function start(kind: Kind, host: string, bundle: string | undefined, port?: number) {
  const stopping = new AbortController();
  const warn = vi.fn();
  const service = {
    name: 'test',
    metrics: new Registry(),
    readiness: new Readiness(),
    tracer: undefined,
    log: { warn } as unknown as Service['log'],
    signal: stopping.signal,
    onStop: (_what: string, stop: () => unknown) => ends.push(stop),
    onSettingChange: () => {},
  };
  const started = CONNECT[kind](service, host, bundle, port).then(() => service.readiness.open());
  started.catch(() => {});
  return {
    started,
    missing: () => service.readiness.missing(),
    warnings: () => warn.mock.calls.map(([{ err }, line]) => `${line}: ${err.message}`),
    stop: () => stopping.abort(),
  };
}

async function isRefused(
  kind: Kind,
  { started, missing, warnings, stop }: ReturnType<typeof start>,
  why: RegExp,
) {
  await expect.poll(() => warnings().length, { timeout: 60_000 }).toBeGreaterThan(0);
  for (const warning of warnings())
    expect(warning).toMatch(new RegExp(`^waiting for ${kind}: .*${why.source}`));
  expect(await missing()).toEqual(['starting']);
  stop();
  await expect(started).rejects.toThrow(why);
}

describe.concurrent.each(KINDS)('with TLS to %s', (kind) => {
  test.for(['right', 'both'] as const)('a service becomes ready with the bundle "%s"', async (bundle) => {
    const { started, missing, warnings } = start(kind, NAME, bundles[bundle]);
    await started;
    expect(await missing()).toEqual([]);
    expect(warnings()).toEqual([]);
  });

  test.for<[string, string, keyof typeof bundles | undefined, RegExp]>([
    ['an authority that the bundle does not hold', NAME, 'other', /certificate/],
    ['an authority that Node does not trust, if there is no bundle', NAME, undefined, /certificate/],
    ['the right authority for another host', '127.0.0.1', 'right', /does not match certificate's altnames/],
  ])(
    'a service stays not ready and logs why if the certificate is from %s',
    async ([, host, bundle, reason]) => {
      await isRefused(kind, start(kind, host, bundle && bundles[bundle]), reason);
    },
  );
});

test('a NATS server with the name of another host is refused', async () => {
  const misnamed = start('NATS', NAME, bundles.right, ports.misnamedNats);
  await isRefused('NATS', misnamed, /Host: localhost. is not in the cert's altnames: DNS:elsewhere.test/);
});

test.each([
  ['nats://10.0.0.7:4222', 'IP Address:10.0.0.7', true],
  ['nats://10.0.0.6,nats://[2001:db8::7]:4222', 'IP Address:2001:DB8:0:0:0:0:0:7', true],
  ['nats://10.0.0.7', 'DNS:localhost', false],
  ['nats://10.0.0.7', 'IP Address:10.0.0.8', false],
  ['nats://localhost,nats://10.0.0.7', 'DNS:localhost', true],
])('the NATS servers %s may have a certificate for %s: %s', (servers, subjectaltname, accepted) => {
  const cert = { subject: {}, subjectaltname } as PeerCertificate;
  expect(identityCheck(servers)('localhost', cert) === undefined).toBe(accepted);
});
