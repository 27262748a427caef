import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { AccountsAdminServiceService } from '@brand-data/contracts';
import { main } from '@brand-data/operator';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterAll, describe, expect, test } from 'vitest';

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** Starts an accounts whose contract has only ListPlans and GetAccount, and whose GetAccount fails with this status. */
async function earlierAccounts(code = status.INTERNAL, details = 'internal error'): Promise<string> {
  const { listPlans, getAccount } = AccountsAdminServiceService;
  const server = new Server();
  server.addService(
    { listPlans, getAccount },
    {
      listPlans: (_call: unknown, answer: (error: null, value: object) => void) =>
        answer(null, { plans: [] }),
      getAccount: (_call: unknown, answer: (error: object) => void) => answer({ code, details }),
    },
  );
  ends.push(() => server.forceShutdown());
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return `127.0.0.1:${port}`;
}

/** Runs a command that must fail. Returns its exit status and its message. */
async function failed(accounts: string, ...args: string[]): Promise<{ code: number; said: string }> {
  let said = '';
  const code = await main(args, {
    env: {
      BDS_ACCOUNTS: accounts,
      BDS_METERING: '127.0.0.1:1',
      BDS_OPERATOR_TOKEN: 'any',
      BDS_GRPC_TRANSPORT: 'insecure_plaintext',
    },
    cwd: '/',
    stdout: { write: () => true },
    stderr: { write: (text) => (said += text) },
  });
  return { code, said };
}

/** Words of gRPC, and names as they stand in its messages. */
const WIRE =
  /\b(UNIMPLEMENTED|UNAVAILABLE|INTERNAL|DEADLINE|RST_STREAM|grpc|proto|[a-z]+_[a-z]+(_[a-z]+)*)\b|\d+ [A-Z_]{5,}/;

describe('a failed call names the service and says what to do, without words of gRPC', () => {
  test.each([
    ['account', 'list'],
    ['account', 'rename', 'acme', 'Acme'],
    ['account', 'reopen', 'acme'],
    ['key', 'edit', 'key-1', '--label', 'x'],
    ['key', 'rotate', 'key-1', '--overlap', '1h', '--yes'],
  ])('of %s %s, which a service of an earlier version does not know', async (...args) => {
    const accounts = await earlierAccounts();
    const { code, said } = await failed(accounts, ...args);
    expect(code).toBe(1);
    expect(said).toBe(
      `bds: accounts at ${accounts} does not know this command, because its version is earlier than that of bds: upgrade accounts first\n`,
    );
    expect(said).not.toMatch(WIRE);
  });

  test('of a service that fails by itself', async () => {
    const { code, said } = await failed(await earlierAccounts(), 'account', 'show', 'acme');
    expect([code, said]).toEqual([1, expect.stringMatching(/ failed: the log of accounts says why\n$/)]);
    expect(said).not.toMatch(WIRE);
  });

  test('of a service that refuses the certificate', async () => {
    const details = 'the service that this certificate identifies may not make this call';
    const accounts = await earlierAccounts(status.PERMISSION_DENIED, details);
    const { code, said } = await failed(accounts, 'account', 'show', 'acme');
    expect([code, said]).toEqual([1, expect.stringMatching(/upgrade accounts first, or the certificate/)]);
  });

  test('of a service that is not there, has no address or speaks something else', async () => {
    const other = createServer((socket) => socket.end('220 this is no gRPC\r\n')).listen(0, '127.0.0.1');
    ends.push(() => other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    for (const [address, said] of [
      ['127.0.0.1:1', /nothing listens there/],
      ['no-such-host.invalid:8080', /this host name has no address/],
      [`127.0.0.1:${port}`, /did not answer/],
    ] as const) {
      const answer = await failed(address, 'account', 'show', 'acme');
      expect(answer).toEqual({ code: 1, said: expect.stringMatching(said) });
      expect(answer.said).toContain(`accounts at ${address}`);
      expect(answer.said).not.toMatch(WIRE);
    }
  });
});

test('backup says what is wrong with a server that cannot be used, and what to do, in words of operators', async () => {
  const other = createServer((socket) => socket.destroy());
  ends.push(() => other.close());
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const folder = await temporaryFolder();
  const run = async (MONGODB_URL: string) => {
    let said = '';
    const code = await main(['backup', '--out', join(folder, 'copy'), '--only', 'catalog'], {
      env: { MONGODB_URL },
      cwd: folder,
      stdout: { write: () => true },
      stderr: { write: (text) => (said += text) },
    });
    return { code, said };
  };
  const server = (host: string) => `mongodb://ana:hidden@${host}/?replicaSet=rs0`;
  const names = 'bds: MONGODB_URL names a server that cannot be used: ';
  const [nobody, unknown, another] = await Promise.all(
    ['127.0.0.1:1', 'no-such-host.invalid', `127.0.0.1:${port}`].map((host) => run(server(host))),
  );
  expect(nobody).toEqual({
    code: 1,
    said: expect.stringContaining(`${names}nothing listens there. Start it`),
  });
  expect(unknown).toEqual({ code: 1, said: expect.stringContaining(`${names}its host name has no address`) });
  expect(another).toEqual({ code: 1, said: expect.stringContaining(names) });
  for (const { said } of [nobody, unknown, another] as { said: string }[])
    expect(said).not.toMatch(/hidden|E[A-Z]{6,}|monitor|getaddrinfo/);
});
