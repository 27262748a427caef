import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { GRPC_SERVICES, IDENTITIES, type Identity } from '@brand-data/contracts';
import { keepCertificates } from '@brand-data/local';
import { connectChannel, INSECURE_PLAINTEXT, type Transport } from '@brand-data/runtime';
import { channelFrom } from '@brand-data/runtime/test/channel-as.ts';
import { certificateFiles } from '@brand-data/servers';
import { newAuthority, newCertificate } from '@brand-data/servers/certificate-maker';
import { scrape } from '@brand-data/testing/exposition';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { Client, Metadata, type MethodDefinition, type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

const VALID = { nowMs: Date.now(), days: 300 };
const SERVICES = ['accounts', 'catalog', 'metering', 'images', 'gateway-1', 'gateway-2'];

let folder: string;
let stack: TestStack;
let operator: TestOperator;

beforeAll(async () => {
  folder = join(await temporaryFolder(), 'certificates');
  await keepCertificates(folder);
  stack = await startTestStack({ certificates: folder });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

interface Method {
  /** "accounts: AccountsService.verifyToken" */
  name: string;
  server: Identity;
  target: string;
  definition: MethodDefinition<unknown, unknown>;
  callers: readonly Identity[];
}

function methodsOf({ operator, targets }: TestStack): Method[] {
  return Object.entries(GRPC_SERVICES).flatMap(([service, { servers, definition, callers }]) =>
    servers.flatMap((server) => {
      const admin = operator[server as 'accounts' | 'catalog' | 'metering' | 'images'];
      const target = (service.endsWith('AdminService') ? admin : targets[server]) ?? '';
      return Object.entries(definition).map(
        ([method, each]): Method => ({
          name: `${server}: ${service}.${method}`,
          server,
          target,
          definition: each as Method['definition'],
          callers: (callers as Record<string, readonly Identity[]>)[method] ?? [],
        }),
      );
    }),
  );
}

const nothing = () => Buffer.alloc(0);

/** Makes a call with an empty request and no operator credential. Resolves to the code of the answer. */
function codeOf(transport: Transport, { target, server, definition }: Method): Promise<string> {
  const client = connectChannel(Client, target, { transport, peer: server });
  const { path, requestStream, responseStream } = definition;
  const { promise, resolve } = Promise.withResolvers<number>();
  const answered = (error: ServiceError | null) => resolve(error?.code ?? status.OK);
  const options = { deadline: Date.now() + 10_000 };
  if (requestStream)
    client.makeClientStreamRequest(path, nothing, nothing, new Metadata(), options, answered).end();
  else if (responseStream) {
    const call = client.makeServerStreamRequest(path, nothing, nothing, {}, new Metadata(), options);
    call
      .on('data', () => {})
      .on('error', answered)
      .on('end', () => answered(null));
  } else client.makeUnaryRequest(path, nothing, nothing, {}, new Metadata(), options, answered);
  return promise.then((code) => status[code] ?? '').finally(() => client.close());
}

async function codesOf(transport: (peer: Identity) => Transport): Promise<Record<string, string>> {
  const codes = methodsOf(stack).map(async (method) => [
    method.name,
    await codeOf(transport(method.server), method),
  ]);
  return Object.fromEntries(await Promise.all(codes));
}

test.each(IDENTITIES)(
  '%s reaches the methods that name it, and every other one refuses it',
  async (identity) => {
    const codes = await codesOf((peer) => channelFrom(folder, identity, peer).transport);
    for (const { name, callers } of methodsOf(stack)) {
      const isRefused = codes[name] === 'PERMISSION_DENIED';
      expect({ name, isRefused }, codes[name]).toEqual({ name, isRefused: !callers.includes(identity) });
      // A call that got through has an empty request, and on admin ports no operator credential.
      if (!isRefused) expect(['OK', 'INVALID_ARGUMENT', 'UNAUTHENTICATED']).toContain(codes[name]);
    }
  },
);

test('every gRPC service of the contracts is in the table', async () => {
  const contracts = Object.entries(await import('@brand-data/contracts'));
  const isDefinition = (value: unknown) =>
    Object.values(Object(value)).some((method) => typeof Object(method).path === 'string');
  const defined = contracts.filter(([name, value]) => name.endsWith('ServiceService') && isDefinition(value));
  expect(defined.map(([name]) => name.replace(/Service$/, '')).sort()).toEqual(
    Object.keys(GRPC_SERVICES).sort(),
  );
});

test('without a certificate of the installation no method is reached, whatever name a certificate has', async () => {
  const strangers = join(await temporaryFolder(), 'strangers');
  await keepCertificates(strangers);
  const ca = await readFile(certificateFiles(folder, 'bds').ca);
  for (const identity of IDENTITIES) await writeFile(certificateFiles(strangers, identity).ca, ca);
  const reached = async (transport: (peer: Identity) => Transport) =>
    [...new Set(Object.values(await codesOf(transport)))].sort();
  expect(await reached((peer) => channelFrom(strangers, 'gateway', peer).transport)).toEqual(['UNAVAILABLE']);
  expect(await reached((peer) => channelFrom(strangers, 'bds', peer).transport)).toEqual(['UNAVAILABLE']);
  expect(await reached(() => INSECURE_PLAINTEXT)).toEqual(['UNAVAILABLE']);
});

test('refused calls and handshakes are counted', async () => {
  const metrics = await scrape(stack.opsUrls.get('metering') ?? '');
  const labels = 'grpc_service="brand_data.v1.MeteringService",grpc_method="Acquire",caller="catalog"';
  expect(metrics).toMatch(
    new RegExp(`grpc_server_refused_callers_total\\{${labels},service="metering"\\} 1\\b`),
  );
  expect(metrics).toMatch(/grpc_server_refused_handshakes_total\{reason="untrusted",.*\} [1-9]/);
  expect(metrics).toMatch(/grpc_server_refused_handshakes_total\{reason="no_tls",.*\} [1-9]/);
  expect(metrics).toMatch(/grpc_certificate_remaining_seconds\{certificate="own",.*\} 3153\d{4}\b/);
});

const reloadsOf = (service: string) =>
  stack.metric(service, 'grpc_certificate_reloads_total', { result: 'applied' });

/** Writes files for every identity, and waits until every service uses them. */
async function replace(write: (identity: Identity) => Promise<void>): Promise<void> {
  const before = await Promise.all(SERVICES.map(reloadsOf));
  for (const identity of IDENTITIES) await write(identity);
  for (const [index, name] of SERVICES.entries())
    await expect.poll(() => reloadsOf(name), { message: name }).toBeGreaterThan(before[index] ?? 0);
}

/**
 * Makes calls, each with a look-up, until the caller ends it. Resolves to the number of answers of each status, or the text of a
 * failure.
 */
function callSteadily(gateway: { url: string }, token: string): () => Promise<Record<string, number>> {
  const caller = callerOf(gateway);
  const answers: Record<string, number> = {};
  let isOver = false;
  let calls = 0;
  const work = async () => {
    while (!isOver) {
      calls += 1;
      const identifier = calls % 2 ? 'ZPHX' : `no ${calls}`;
      const response = await caller.brand(identifier, token);
      const answer = response.status < 500 ? `${response.status}` : await response.text();
      answers[answer] = (answers[answer] ?? 0) + 1;
    }
  };
  const working = work();
  return async () => {
    isOver = true;
    await working;
    return answers;
  };
}

/** Whether an identity with these files gets through a handshake with accounts. */
function isLetIn(files: { cert: Buffer; key: Buffer; ca: Buffer }): Promise<boolean> {
  const [host, port] = (stack.targets.accounts ?? '').split(':');
  const socket = connectTls({
    host,
    port: Number(port),
    ...files,
    ALPNProtocols: ['h2'],
    servername: 'accounts.brand-data.internal',
  });
  return new Promise((resolve) => {
    // An HTTP/2 server sends its settings first.
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}

test('authority and certificates are replaced under load, old and new side by side, with no failed call', async () => {
  const { token } = await operator.newAccount(1_000_000);
  const loads = stack.gateways.map((gateway) => callSteadily(gateway, token));
  const old = certificateFiles(folder, 'gateway');
  const [cert, key] = await Promise.all([readFile(old.cert), readFile(old.key)]);
  const oldCa = await readFile(old.ca, 'utf8');
  const next = await newAuthority(VALID);

  await replace((identity) => writeFile(certificateFiles(folder, identity).ca, oldCa + next.cert));
  await replace(async (identity) => {
    const files = certificateFiles(folder, identity);
    const certified = await newCertificate(next, [`${identity}.brand-data.internal`], VALID);
    await writeFile(files.key, certified.key);
    await writeFile(files.cert, certified.cert);
  });
  expect(await isLetIn({ cert, key, ca: Buffer.from(next.cert) })).toBe(true);
  await replace((identity) => writeFile(certificateFiles(folder, identity).ca, next.cert));
  expect(await isLetIn({ cert, key, ca: Buffer.from(next.cert) })).toBe(false);
  operator.close();
  operator = new TestOperator(stack);
  await operator.newAccount(1);

  for (const answers of await Promise.all(loads.map((end) => end()))) {
    expect(Object.keys(answers)).toEqual(['200', '404']);
    expect(answers[404]).toBeGreaterThan(10);
  }
});
