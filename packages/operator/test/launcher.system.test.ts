import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, test } from 'vitest';

const OLDER =
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });";
/** Makes standard input a terminal for a process. A real one would need a program that not each machine has. */
const TERMINAL = `import { syncBuiltinESMExports } from 'node:module';
import tty from 'node:tty';
tty.isatty = (descriptor) => descriptor === 0;
syncBuiltinESMExports();`;

test('a token is not read where a terminal would show it', async () => {
  const folder = await temporaryFolder();
  const terminal = join(folder, 'terminal.mjs');
  await writeFile(terminal, TERMINAL);
  const env = {
    ...process.env,
    BDS_ACCOUNTS: '127.0.0.1:9',
    BDS_GRPC_TRANSPORT: 'insecure_plaintext',
    BDS_OPERATOR_TOKEN: 'a token of the installation',
  };
  const command = ['--import', terminal, join(import.meta.dirname, '../bds.mjs'), 'key', 'find'];
  const child = spawn(process.execPath, command, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const [errors, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(errors).toContain('a terminal would show what you type');
  expect(status).toBe(2);
});

test('an older Node reports a signal that ends the Node that runs bds as shells do', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'older.mjs'), OLDER);
  const script = join(import.meta.dirname, '../bds.mjs');
  // Only the Node that the older one starts has no arguments of its own.
  const interrupted = "if (process.execArgv.length === 0) process.kill(process.pid, 'SIGINT');";
  await writeFile(join(folder, 'interrupted.mjs'), interrupted);
  const env = { ...process.env, NODE_OPTIONS: `--import ${join(folder, 'interrupted.mjs')}` };
  const command = ['--import', join(folder, 'older.mjs'), script, 'account', 'list'];
  const ended = once(spawn(process.execPath, command, { env, stdio: 'ignore' }), 'exit');
  expect(await ended).toEqual([130, null]);
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'an older Node passes %s on to the Node that runs bds, and reports how that one ends',
  async (signal) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'older.mjs'), OLDER);
    // A MongoDB that never says anything: a copy waits for it.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const script = join(import.meta.dirname, '../bds.mjs');
    const command = [
      '--import',
      join(folder, 'older.mjs'),
      script,
      'backup',
      '--out',
      'copy',
      '--only',
      'catalog',
    ];
    const env = { ...process.env, MONGODB_URL: `mongodb://127.0.0.1:${port}/?replicaSet=rs0` };
    const bds = spawn(process.execPath, command, { cwd: folder, env });
    const [ended, errors] = [once(bds, 'exit'), text(bds.stderr)];
    await once(silent, 'connection');
    bds.kill(signal);
    expect(await ended).toEqual([130, null]);
    expect(await errors).toContain(
      'bds: stopping; Ctrl-C again ends it at once\nbds: stopped: there is no copy\n',
    );
    silent.close();
  },
);
