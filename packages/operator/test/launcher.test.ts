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
