import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@brand-data/servers';
import { isRunning } from '@brand-data/testing/is-running';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bdsWith } from '../src/index.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MAIN = join(import.meta.dirname, '../src/main.ts');
const STARTED = 'Ctrl-C stops everything';
const PATIENCE = { timeout: 60_000, interval: 100 };

interface Start {
  child: ChildProcess;
  output(): string;
}

/** Starts the program that `npm start` runs. */
function start(args: string[], servers: { MONGODB_URL?: string; NATS_URL?: string } = {}): Start {
  return launch(process.execPath, [MAIN, ...args], servers);
}

/** Starts a command in its own process group, as a terminal does. */
function launch(
  command: string,
  args: string[],
  servers: { MONGODB_URL?: string; NATS_URL?: string } = {},
): Start {
  const { MONGODB_URL: _, NATS_URL: __, ...inherited } = process.env;
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...inherited, ...servers },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output };
}

async function isUp({ child, output }: Start): Promise<void> {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  await vi.waitFor(() => expect(hasEnded() || output().includes(STARTED)).toBe(true), {
    ...PATIENCE,
    timeout: 350_000,
  });
  expect(output()).toContain(STARTED);
}

/** Lists all descendants of a process, with their command lines. */
async function descendants(of: number | undefined): Promise<{ pid: number; args: string }[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  const all = stdout.split('\n').flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
  });
  const below = (parent: number | undefined): typeof all =>
    all.filter((process) => process.parent === parent).flatMap((child) => [child, ...below(child.pid)]);
  return below(of);
}

const areGone = (processes: { pid: number }[]) => !processes.some(({ pid }) => isRunning(pid));

describe('npm start', () => {
  let dataDir: string;
  let port: number;
  let running: Start;
  const demo = async () => JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'));
  const statusOf = (url: string) => fetch(url).then(({ status }) => status);

  beforeAll(async () => {
    dataDir = await temporaryFolder();
    port = await freePort();
    running = start(['--data', dataDir, '--port', String(port), '--gateways', '2']);
    await isUp(running);
  });
  afterAll(async () => {
    if (running.child.exitCode === null && running.child.signalCode === null) {
      running.child.kill('SIGINT');
      await once(running.child, 'exit');
    }
  });

  test('ends with tokens and commands that work as they are printed', async () => {
    const { gateways, tokens } = await demo();
    expect(gateways).toEqual([`http://127.0.0.1:${port}`, `http://127.0.0.1:${port + 1}`]);
    for (const token of Object.values<string>(tokens)) expect(running.output()).toContain(token);
    const statuses = new Map<string, number>();
    for (const [, url = ''] of running.output().matchAll(/curl -i '([^']+)'/g)) {
      statuses.set(new URL(url).pathname + (url.includes(tokens.free) ? ' free' : ''), await statusOf(url));
    }
    expect(Object.fromEntries(statuses)).toEqual({
      '/v1/brands/AAPL': 200,
      '/v1/brands/mcdonalds.com': 200,
      '/api/logos/figma/info free': 200,
      '/v1/brands/figma free': 403,
    });
  });

  test('an account with an allowance of 5 calls gets 5 answers, from any gateways', async () => {
    const { gateways, tokens } = await demo();
    const statuses: number[] = [];
    for (let call = 0; call < 7; call++) {
      statuses.push(await statusOf(`${gateways[call % 2]}/v1/brands/AAPL?token=${tokens.small}`));
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });

  test("images serves a record's logo", async () => {
    const { gateways, tokens } = await demo();
    const answer = await fetch(`${gateways[0]}/v1/brands/AAPL?token=${tokens.paid}`);
    const record = (await answer.json()) as { images: { logo: { big: { url: string } } } };
    const image = await fetch(record.images.logo.big.url);
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  });

  test('only the owner may read the secrets, and no log and no environment of a process contains them', async () => {
    const secret = [
      'settings/gateway-1.NATS_URL',
      'settings/catalog.MONGODB_URL',
      'settings/accounts.TOKEN_HASH_KEY',
      'mongod/key',
      'nats-server/nats-server.conf',
    ];
    for (const file of ['demo.json', 'operator.json', 'state.json', ...secret]) {
      expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
    }
    const { operatorToken, tokenHashKey } = JSON.parse(await readFile(join(dataDir, 'state.json'), 'utf8'));
    for (const { pid } of await descendants(running.child.pid)) {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      for (const secret of [operatorToken, tokenHashKey, 'PRIVATE KEY'])
        expect(environment).not.toContain(secret);
    }
    const { tokens } = await demo();
    for (const name of ['accounts', 'catalog', 'metering', 'images', 'gateway-1', 'gateway-2']) {
      const log = await readFile(join(dataDir, 'logs', `${name}.log`), 'utf8');
      for (const secret of [operatorToken, ...Object.values<string>(tokens)])
        expect(log).not.toContain(secret);
    }
  });

  test.for(['nats-server', 'mongod', 'accounts', 'catalog', 'metering', 'images', 'gateway'])(
    '%s, killed, is started again, and calls go on',
    async (name) => {
      const { gateways, tokens } = await demo();
      const found = (await descendants(running.child.pid)).find(({ args }) =>
        name.startsWith('nats') || name.startsWith('mongo')
          ? args.includes(`${name} --`)
          : args.endsWith(`services/${name}/src/main.ts`),
      );
      const before = running.output().length;
      process.kill(found?.pid ?? 0, 'SIGKILL');
      await vi.waitFor(
        () => expect(running.output().slice(before)).toMatch(new RegExp(`^${name}(-\\d)? is back$`, 'm')),
        PATIENCE,
      );
      for (const gateway of gateways) {
        await vi.waitFor(
          async () => expect(await statusOf(`${gateway}/v1/brands/apple.com?token=${tokens.paid}`)).toBe(200),
          PATIENCE,
        );
      }
    },
  );

  test('a second start on the same data fails with one line', async () => {
    const second = start(['--data', dataDir, '--port', String(port + 10)]);
    const [status] = await once(second.child, 'close');
    expect(status).toBe(1);
    expect(second.output()).toMatch(/^.* is in use by process \d+: .*\n$/);
  });

  test('a start on a taken port fails with one line', async () => {
    const other = join(dataDir, 'other');
    const second = start(['--data', other, '--port', String(port + 1)]);
    const [status] = await once(second.child, 'close');
    expect(status).toBe(1);
    expect(second.output()).toMatch(new RegExp(`^Port ${port + 1} .* is taken: .*\\n$`));
  });

  test('if a server named in the environment does not answer, the start says so and leaves no process', async () => {
    const folder = join(dataDir, 'other');
    const nowhere = `nats://127.0.0.1:${await freePort()}`;
    const other = start(['--data', folder, '--port', String(await freePort())], { NATS_URL: nowhere });
    const [status] = await once(other.child, 'close');
    expect(status).toBe(1);
    expect(other.output()).toContain('\nNATS_URL names a server that does not answer: ');
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'args=']);
    expect(stdout).not.toContain(folder);
  });

  test('prints the address of the page of usage, which opens with the credential of an operator', async () => {
    const [, url = ''] = /usage of accounts in a browser: (\S+)/.exec(running.output()) ?? [];
    expect(await statusOf(url)).toBe(401);
    const bds = bdsWith(join(dataDir, 'operator.json'));
    const made = (await bds('operator', 'create', 'me', '--role', 'read')) as { credential: string };
    const authorization = `Basic ${Buffer.from(`me:${made.credential}`).toString('base64')}`;
    expect((await fetch(url, { headers: { authorization } })).status).toBe(200);
  });

  test('Ctrl-C leaves no process behind', async () => {
    const processes = await descendants(running.child.pid);
    expect(processes.length).toBeGreaterThanOrEqual(9);
    // The test sends SIGINT to the whole group, as a terminal does.
    process.kill(-(running.child.pid ?? 0), 'SIGINT');
    const [status] = await once(running.child, 'exit');
    expect(status).toBe(0);
    await vi.waitFor(() => expect(areGone(processes)).toBe(true), PATIENCE);
    expect(running.output()).not.toMatch(/^\s+at /m);
  });

  test('a second start, by npm, keeps data and tokens', async () => {
    const { tokens } = await demo();
    running = launch('npm', ['start', '--', '--data', dataDir, '--port', String(port)]);
    await isUp(running);
    expect((await demo()).tokens).toEqual(tokens);
    expect(await statusOf(`http://127.0.0.1:${port}/v1/brands/AAPL?token=${tokens.paid}`)).toBe(200);
    expect(await statusOf(`http://127.0.0.1:${port}/v1/brands/AAPL?token=${tokens.small}`)).toBe(429);
  });

  test('killing npm with SIGKILL leaves no process behind', async () => {
    const processes = await descendants(running.child.pid);
    expect(processes.length).toBeGreaterThanOrEqual(9);
    running.child.kill('SIGKILL');
    await vi.waitFor(() => expect(areGone(processes)).toBe(true), PATIENCE);
  });
});
