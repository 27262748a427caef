import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { FetchBounds } from './fetch-file.ts';
import { PassingProblem } from './requests.ts';
import { FetchProblem, readState, writeState } from './stored-file.ts';

/**
 * Copies a file or a folder, so that whoever reads the copy twice reads the same. Resolves to a text that changes when the original
 * does. Copies nothing if the copy is of the same original. Rejects with a FetchProblem if the original changes meanwhile.
 */
export async function copyFiles(
  from: string,
  to: string,
  { mostBytes, signal }: Pick<FetchBounds, 'mostBytes' | 'signal'>,
): Promise<string> {
  const { files, version } = await lookAt(from, mostBytes);
  const statePath = `${to}.state.json`;
  const state = await readState<{ version: string }>(statePath);
  if (state?.version === version && (await stat(to).catch(() => undefined)) !== undefined) return version;
  const draft = `${to}.part`;
  await rm(draft, { recursive: true, force: true });
  for (const file of files) {
    signal.throwIfAborted();
    const copy = join(draft, relative(from, file));
    await mkdir(dirname(copy), { recursive: true });
    // A file system that can do so shares the blocks.
    await copyFile(file, copy, constants.COPYFILE_FICLONE);
  }
  if ((await lookAt(from, mostBytes)).version !== version) {
    await rm(draft, { recursive: true, force: true });
    throw new PassingProblem(`${from} changed while it was read: run this again when it is whole`);
  }
  await rm(statePath, { force: true });
  await rm(to, { recursive: true, force: true });
  await rename(draft, to);
  await writeState(statePath, { version });
  return version;
}

/** Lists the files with what changes when one of them is written. */
async function lookAt(from: string, mostBytes: number): Promise<{ files: string[]; version: string }> {
  const isFolder = (await stat(from)).isDirectory();
  const files = isFolder ? await filesIn(from) : [from];
  const found = await Promise.all(files.map((file) => stat(file)));
  if (found.reduce((sum, { size }) => sum + size, 0) > mostBytes)
    throw new FetchProblem(
      `${from} has more than ${mostBytes.toLocaleString('en-US')} bytes: check it, and raise bounds.bytes`,
    );
  const facts = found.map(({ size, mtimeMs, ino }, index) => [files[index], size, mtimeMs, ino]);
  return { files, version: hash('sha256', JSON.stringify(facts)) };
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  return files.sort();
}
