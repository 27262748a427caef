import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, test } from 'vitest';
import { lockDataFolder, readJson, readState, writeSecret, writeState } from '../src/data-folder.ts';

test('a start on a data folder in use fails with a line that says what to do', async () => {
  const folder = await temporaryFolder();
  const release = await lockDataFolder(folder);
  await expect(lockDataFolder(folder)).rejects.toThrow(
    `in use by process ${process.pid}: stop that one first`,
  );
  await release();
  await (await lockDataFolder(folder))();
});

test('the lock of a process that was killed with SIGKILL is free at once', async () => {
  const folder = await temporaryFolder();
  const module = pathToFileURL(join(import.meta.dirname, '../src/data-folder.ts')).href;
  const holder = spawn(process.execPath, [
    '--input-type=module',
    '--eval',
    `const { lockDataFolder } = await import(${JSON.stringify(module)});
     await lockDataFolder(${JSON.stringify(folder)});
     console.log('locked');
     setInterval(() => {}, 1000);`,
  ]);
  await once(holder.stdout, 'data');
  await expect(lockDataFolder(folder)).rejects.toThrow(`in use by process ${holder.pid}`);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await (await lockDataFolder(folder))();
});

test('secrets and ports are read as they were written, and only their owner may read them', async () => {
  const folder = await temporaryFolder();
  const state = await readState(folder);
  state.ports.accounts = 8100;
  await writeState(folder, state);
  expect(await readState(folder)).toEqual(state);
  expect((await stat(join(folder, 'state.json'))).mode & 0o777).toBe(0o600);
  expect((await readState(await temporaryFolder())).operatorToken).not.toBe(state.operatorToken);
});

test('the error for a file that cannot be read names the file', async () => {
  const file = join(await temporaryFolder(), 'demo.json');
  expect(await readJson(file)).toBeUndefined();
  await writeSecret(file, { a: 1 });
  expect(await readJson(file)).toEqual({ a: 1 });
  await writeFile(file, '{');
  await expect(readJson(file)).rejects.toThrow(file);
});
