import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { freePort } from '@brand-data/servers';
import { type Certified, newAuthority, newCertificate } from '@brand-data/servers/certificate-maker';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { Client } from '@grpc/grpc-js';
import { Registry } from 'prom-client';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import {
  Certificates,
  ConfigError,
  callUnary,
  connectChannel,
  INSECURE_PLAINTEXT,
  startGrpcServer,
  type Transport,
  transportSpec,
} from '../src/index.ts';
import { createLogger, sparingly } from '../src/observe/log.ts';
import { Readiness } from '../src/observe/readiness.ts';
import type { Service } from '../src/service/service.ts';

const PATH = '/test.Service/Echo';
const bytes = (value: Buffer) => value;
const VALID = { nowMs: Date.now(), days: 30 };

let folder: string;
let authority: Certified;
let other: Certified;
const stops: (() => unknown)[] = [];

beforeAll(async () => {
  [authority, other] = await Promise.all([newAuthority(VALID), newAuthority(VALID)]);
});
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const nameOf = (service: string) => `${service}.brand-data.internal`;

async function write(name: string, { cert, key }: Certified, ca: string) {
  const own = join(folder, name);
  await mkdir(own, { recursive: true });
  const files = { cert: join(own, 'tls.crt'), key: join(own, 'tls.key'), ca: join(own, 'ca.crt') };
  await Promise.all([writeFile(files.cert, cert), writeFile(files.key, key), writeFile(files.ca, ca)]);
  return files;
}

/** How `service` takes part, with its own certificate. */
async function certified(service: string, from = authority, ca = authority.cert): Promise<Certificates> {
  const files = await write(service, await newCertificate(from, [nameOf(service)], VALID), ca);
  return Certificates.read(service, files);
}

const mutualTls = (certificates: Certificates): Transport => ({ certificates });

interface Running {
  service: Service;
  port: number;
  certificates: Certificates;
  /** Stops the server in order, as SIGTERM does. */
  stop: () => Promise<void>;
}

/** Starts a server "accounts" with one method, which only "gateway" may call. */
async function serve(kind: 'mutual_tls' | 'insecure_plaintext' = 'mutual_tls'): Promise<Running> {
  const ends: (() => unknown)[] = [];
  const service: Service = {
    name: 'accounts',
    log: createLogger('accounts', 'silent'),
    metrics: new Registry(),
    readiness: new Readiness(),
    tracer: undefined,
    signal: new AbortController().signal,
    onSettingChange: () => {},
    onStop: (_what, stop) => ends.push(stop),
  };
  const requestDeserialize = (value: Buffer) => {
    if (value[0] === 0xff) throw new Error('a message that does not decode');
    return value;
  };
  const forms = { requestSerialize: bytes, requestDeserialize };
  const method = { path: PATH, requestStream: false, responseStream: false } as const;
  const port = await freePort();
  const certificates = await certified('accounts');
  const transport = kind === 'insecure_plaintext' ? INSECURE_PLAINTEXT : { certificates };
  await startGrpcServer(service, {
    transport,
    host: '127.0.0.1',
    port,
    services: [
      {
        definition: { echo: { ...method, ...forms, responseSerialize: bytes, responseDeserialize: bytes } },
        callers: { echo: ['gateway'] },
        handlers: {
          echo: (call: { request: Buffer }, answer: (error: null, value: Buffer) => void) =>
            answer(null, call.request),
        },
      },
    ],
  });
  service.readiness.open();
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  stops.push(stop);
  return { service, port, certificates, stop };
}

/** Returns a client of servers on these ports. */
function clientOf(transport: Transport, ports: number | number[], peer = 'accounts') {
  const addresses = [ports].flat().map((port) => `127.0.0.1:${port}`);
  const client = connectChannel(Client, `ipv4:${addresses}`, { transport, peer, isIdempotent: true });
  stops.push(() => client.close());
  const echo: Parameters<typeof callUnary<Buffer, Buffer>>[1] = (request, metadata, options, answered) =>
    client.makeUnaryRequest(PATH, bytes, bytes, request, metadata, options, (error, answer) =>
      answered(error, answer as Buffer),
    );
  return {
    client,
    echo: async (request = 'hello', { waitForReady = false } = {}) =>
      (await callUnary(client, echo, Buffer.from(request), { deadlineMs: 5_000, waitForReady })).toString(),
  };
}

async function metric({ service }: Running, name: string, labels: Record<string, string>): Promise<number> {
  const { values } = (await service.metrics.getSingleMetric(name)?.get()) ?? { values: [] };
  const isAsked = (value: (typeof values)[number]) =>
    Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted);
  return values.filter(isAsked).reduce((sum, { value }) => sum + value, 0);
}

const refusedHandshakes = (running: Running, reason: string) =>
  metric(running, 'grpc_server_refused_handshakes_total', { reason });

test('a service that a method names may call it, and both sides prove their identity', async () => {
  const { port } = await serve();
  expect(await clientOf(mutualTls(await certified('gateway')), port).echo()).toBe('hello');
});

test('a service that a method does not name gets PERMISSION_DENIED and no more, and is counted', async () => {
  const running = await serve();
  const call = clientOf(mutualTls(await certified('metering')), running.port).echo();
  await expect(call).rejects.toMatchObject({
    kind: 'permission_denied',
    message: 'the service that this certificate identifies may not make this call',
  });
  const labels = { grpc_service: 'test.Service', grpc_method: 'Echo', caller: 'metering' };
  expect(await metric(running, 'grpc_server_refused_callers_total', labels)).toBe(1);
});

test.each([
  ['no name', []],
  ['a name of another domain', ['gateway.example.com']],
  ['a name below that of a service', ['a.gateway.brand-data.internal']],
  ['a wildcard', ['*.brand-data.internal']],
  ['the names of two services', [nameOf('gateway'), nameOf('metering')]],
])('a trusted certificate with %s identifies nobody', async (_what, names) => {
  const running = await serve();
  const files = await write('strange', await newCertificate(authority, names, VALID), authority.cert);
  // Sends a certificate that our clients would refuse to send.
  const certificates = await certified('gateway');
  Object.defineProperty(certificates, 'addIdentityCertificateListener', {
    value: async (listener: (update: unknown) => void) => {
      const { readFile } = await import('node:fs/promises');
      listener({ certificate: await readFile(files.cert), privateKey: await readFile(files.key) });
    },
  });
  await expect(clientOf(mutualTls(certificates), running.port).echo()).rejects.toMatchObject({
    kind: 'permission_denied',
  });
  expect(await metric(running, 'grpc_server_refused_callers_total', { caller: 'unnamed' })).toBe(1);
  expect(() => Certificates.read('gateway', files)).toThrow('the certificate is not that of gateway');
});

test('a server with the identity of another service gets no call', async () => {
  const { port, service } = await serve();
  const gateway = mutualTls(await certified('gateway'));
  await expect(clientOf(gateway, port, 'catalog').echo()).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await service.metrics.getSingleMetric('grpc_server_handled_total')?.get()).toMatchObject({
    values: [],
  });
});

test('a certificate of an authority that the server does not trust is refused at the handshake', async () => {
  const running = await serve();
  const stranger = await certified('gateway', other);
  await expect(clientOf(mutualTls(stranger), running.port).echo()).rejects.toMatchObject({
    kind: 'unavailable',
  });
  await expect.poll(() => refusedHandshakes(running, 'untrusted')).toBeGreaterThan(0);
});

test('a connection without a certificate is refused at the handshake, and so is one without TLS', async () => {
  const running = await serve();
  const { port } = running;
  const nameless = connectTls({
    port,
    ca: authority.cert,
    servername: nameOf('accounts'),
    ALPNProtocols: ['h2'],
  });
  nameless.on('error', () => {});
  await new Promise((resolve) => nameless.once('close', resolve));
  await expect.poll(() => refusedHandshakes(running, 'no_certificate')).toBe(1);
  const call = clientOf(INSECURE_PLAINTEXT, port).echo();
  await expect(call).rejects.toMatchObject({ kind: 'unavailable' });
  await expect.poll(() => refusedHandshakes(running, 'no_tls')).toBeGreaterThan(0);
  const closed = connectTcp(port);
  closed.once('connect', () => closed.destroy());
  await expect.poll(() => refusedHandshakes(running, 'broken_off')).toBeGreaterThan(0);
});

test('an expired certificate is refused at the handshake', async () => {
  const running = await serve();
  const { cert, key } = await newCertificate(authority, [nameOf('gateway')], { nowMs: Date.now(), days: -1 });
  const expired = connectTls({
    port: running.port,
    ca: authority.cert,
    cert,
    key,
    servername: nameOf('accounts'),
    ALPNProtocols: ['h2'],
  });
  expired.on('error', () => {});
  await new Promise((resolve) => expired.once('close', resolve));
  await expect.poll(() => refusedHandshakes(running, 'expired')).toBe(1);
});

test('a port without identity is open only if the transport says so', async () => {
  const closed = await serve();
  await expect(clientOf(INSECURE_PLAINTEXT, closed.port).echo()).rejects.toMatchObject({
    kind: 'unavailable',
  });
  const open = await serve('insecure_plaintext');
  expect(await clientOf(INSECURE_PLAINTEXT, open.port).echo()).toBe('hello');
});

test('a request that does not decode is INVALID_ARGUMENT and counted so, and never reaches the handler', async () => {
  const running = await serve();
  const { client } = clientOf(mutualTls(await certified('gateway')), running.port);
  const send: Parameters<typeof callUnary<Buffer, Buffer>>[1] = (request, metadata, options, answered) =>
    client.makeUnaryRequest(PATH, bytes, bytes, request, metadata, options, (error, answer) =>
      answered(error, answer as Buffer),
    );
  const call = callUnary(client, send, Buffer.from([0xff]), { deadlineMs: 5_000 });
  await expect(call).rejects.toMatchObject({ kind: 'invalid_argument' });
  expect(await metric(running, 'grpc_server_handled_total', { grpc_code: 'INVALID_ARGUMENT' })).toBe(1);
});

test('a request of more than 256 KiB is refused', async () => {
  const { port } = await serve();
  const { echo } = clientOf(mutualTls(await certified('gateway')), port);
  expect(await echo('x'.repeat(256 * 1024))).toHaveLength(256 * 1024);
  await expect(echo('x'.repeat(256 * 1024 + 1))).rejects.toMatchObject({ kind: 'resource_exhausted' });
});

test('new files apply to open ports and channels, and end what the old ones had opened', async () => {
  const { port, certificates } = await serve();
  const gateway = await certified('gateway');
  const { echo } = clientOf(mutualTls(gateway), port);
  expect(await echo()).toBe('hello');
  const both = authority.cert + other.cert;
  const reissue = async (service: string, from: Certified, ca: string) =>
    write(service, await newCertificate(from, [nameOf(service)], VALID), ca);
  await reissue('accounts', other, both);
  await reissue('gateway', other, both);
  expect([certificates.reload(), gateway.reload()]).toEqual([true, true]);
  expect(await echo()).toBe('hello');
  await reissue('accounts', other, other.cert);
  await reissue('gateway', other, other.cert);
  expect([certificates.reload(), gateway.reload()]).toEqual([true, true]);
  expect(await echo()).toBe('hello');
  const old = await certified('gateway', authority, both);
  await expect(clientOf(mutualTls(old), port).echo()).rejects.toMatchObject({ kind: 'unavailable' });
});

test('files that do not fit together change nothing', async () => {
  const certificates = await certified('accounts');
  const before = certificates.secureContextOptions;
  const own = join(folder, 'accounts');
  const next = await newCertificate(authority, [nameOf('accounts')], VALID);
  await writeFile(join(own, 'tls.crt'), next.cert);
  expect(() => certificates.reload()).toThrow(/key values mismatch/);
  await rm(join(own, 'tls.key'));
  expect(() => certificates.reload()).toThrow(/ENOENT/);
  await writeFile(join(own, 'tls.key'), next.key);
  await writeFile(join(own, 'ca.crt'), '');
  expect(() => certificates.reload()).toThrow('the file of authorities holds no certificate');
  expect(certificates.secureContextOptions).toEqual(before);
  await writeFile(join(own, 'ca.crt'), authority.cert);
  expect([certificates.reload(), certificates.reload()]).toEqual([true, false]);
});

test('an expired certificate is not used', async () => {
  const expired = await newCertificate(authority, [nameOf('bds')], { nowMs: Date.now(), days: -1 });
  const files = await write('bds', expired, authority.cert);
  expect(() => Certificates.read('bds', files)).toThrow('the certificate has expired');
});

test('a method that names no callers does not start', async () => {
  const { service } = await serve();
  const forms = { requestSerialize: bytes, requestDeserialize: bytes };
  const method = { path: PATH, requestStream: false, responseStream: false } as const;
  const definition = { echo: { ...method, ...forms, responseSerialize: bytes, responseDeserialize: bytes } };
  const start = startGrpcServer(service, {
    transport: INSECURE_PLAINTEXT,
    host: '127.0.0.1',
    port: 0,
    services: [{ definition, callers: {}, handlers: { echo: () => undefined } }],
  });
  await expect(start).rejects.toThrow(`${PATH} does not say which services may call it`);
});

test('strangers cannot fill the log: it has one line a second, with the number of the others', () => {
  const lines: { skipped: number }[] = [];
  let nowMs = 0;
  const warn = sparingly<object>(
    (fields) => lines.push(fields),
    () => nowMs,
  );
  for (; nowMs < 2_500; nowMs += 10) warn({});
  expect(lines).toEqual([{ skipped: 0 }, { skipped: 99 }, { skipped: 99 }]);
});

const FILES = { TLS_CERT_FILE: 'a', TLS_KEY_FILE: 'b', TLS_CA_FILE: 'c' };

test('certificates are required unless the setting says in so many words that there are none', () => {
  const parse = (environment: NodeJS.ProcessEnv) => parseConfig(environment, transportSpec);
  expect(() => parse({})).toThrow(/TLS_CERT_FILE: .*TLS_KEY_FILE: .*TLS_CA_FILE: /s);
  expect(parse(FILES)).toMatchObject({ GRPC_TRANSPORT: 'mutual_tls' });
  expect(() => parse({ GRPC_TRANSPORT: 'plaintext' })).toThrow(ConfigError);
  expect(parse({ GRPC_TRANSPORT: 'insecure_plaintext' })).toBeDefined();
});
