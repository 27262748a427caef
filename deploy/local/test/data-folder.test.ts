import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockDataFolder, readJson, readState, writeSecret, writeState } from '../src/data-folder.ts';
import { temporaryFolder } from './temporary-folder.ts';

test('a data folder that is in use is refused with a line that says what to do', async () => {
  const folder = await temporaryFolder();
  const release = await lockDataFolder(folder);
  await expect(lockDataFolder(folder)).rejects.toThrow(
    `in use by process ${process.pid}: stop that one first`,
  );
  await release();
  await (await lockDataFolder(folder))();
});

test('a lock whose process has ended is taken over', async () => {
  const folder = await temporaryFolder();
  const gone = spawn('true');
  await once(gone, 'exit');
  await writeFile(join(folder, 'lock'), JSON.stringify({ pid: gone.pid, startedAt: '1' }));
  await (await lockDataFolder(folder))();
});

test.runIf(process.platform === 'linux')(
  'a lock is taken over though a later process has the number of the one that left it',
  async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'lock'), JSON.stringify({ pid: process.ppid, startedAt: '1' }));
    await (await lockDataFolder(folder))();
  },
);

test('secrets and ports come back as they were kept, and only their owner may read them', async () => {
  const folder = await temporaryFolder();
  const state = await readState(folder);
  state.ports.accounts = 8100;
  await writeState(folder, state);
  expect(await readState(folder)).toEqual(state);
  expect((await stat(join(folder, 'state.json'))).mode & 0o777).toBe(0o600);
  expect((await readState(await temporaryFolder())).operatorToken).not.toBe(state.operatorToken);
});

test('a file that cannot be read is named', async () => {
  const file = join(await temporaryFolder(), 'demo.json');
  expect(await readJson(file)).toBeUndefined();
  await writeSecret(file, { a: 1 });
  expect(await readJson(file)).toEqual({ a: 1 });
  await writeFile(file, '{');
  await expect(readJson(file)).rejects.toThrow(file);
});
