import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, test } from 'vitest';

const OLDER =
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });";

test('a token is not read where a terminal would show it', async () => {
  const folder = await temporaryFolder();
  const errors = join(folder, 'errors');
  const command = `exec "$NODE" "$BDS" key find 2> "$ERRORS"`;
  const inTerminal = 'import pty, sys; sys.exit(pty.spawn(["sh", "-c", sys.argv[1]]) >> 8)';
  const env = {
    ...process.env,
    NODE: process.execPath,
    BDS: join(import.meta.dirname, '../bds.mjs'),
    ERRORS: errors,
    BDS_ACCOUNTS: '127.0.0.1:9',
    BDS_GRPC_TRANSPORT: 'insecure_plaintext',
    BDS_OPERATOR_TOKEN: 'a token of the installation',
  };
  const child = spawn('python3', ['-c', inTerminal, command], { cwd: folder, env, stdio: 'ignore' });
  expect(await once(child, 'exit')).toEqual([2, null]);
  expect(await readFile(errors, 'utf8')).toContain('a terminal would show what you type');
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
