import { hash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type BytesRead, copyFiles, fetchFile, PassingProblem, Requests } from '@brand-data/importers';
import { VERSION } from '@brand-data/runtime';
import { BESIDE_FILE, type DeclaredSource, isUrl } from './declarations.ts';

export interface FetchedSource {
  /** The files, in the order of the declaration. */
  paths: string[];
  /** Changes when a file does. */
  version: string;
}

/**
 * Brings a source's files in the folder up to date, and removes those that the declaration names no more. Rejects with a
 * FetchProblem, or with the reason of the signal.
 */
export async function fetchSource(
  { files, bounds }: Pick<DeclaredSource, 'files' | 'bounds'>,
  folder: string,
  {
    contact,
    declaredIn,
    signal,
    progress,
  }: { contact: string; declaredIn: string; signal: AbortSignal; progress: BytesRead },
): Promise<FetchedSource> {
  await mkdir(folder, { recursive: true });
  for (const found of await readdir(folder, { withFileTypes: true })) {
    const name = found.name.replace(BESIDE_FILE, '');
    const file = files.find(({ as }) => as === name);
    // A path may have been a folder where a URL now gives a file.
    if (file === undefined || (found.isDirectory() && isUrl(file.from)))
      await rm(join(folder, found.name), { recursive: true });
  }
  const requests = new Requests(`brand-data-service/${VERSION} (${contact})`, bounds.requests_per_second);
  const deadline = AbortSignal.timeout(bounds.seconds * 1_000);
  const within = { mostBytes: bounds.bytes, signal: AbortSignal.any([signal, deadline]), progress };
  // What a source without files brings, such as icons, comes with this version of bds.
  const versions: string[] = files.length === 0 ? [VERSION] : [];
  const paths = files.map(({ as }) => join(folder, as));
  try {
    for (const [index, { from, checksum }] of files.entries()) {
      const path = paths[index] ?? '';
      versions.push(
        isUrl(from)
          ? await fetchFile(requests, { url: from, path, checksum }, within)
          : await copyFiles(resolve(declaredIn, from), path, within),
      );
    }
  } catch (error) {
    if (signal.aborted || !deadline.aborted) throw error;
    throw new PassingProblem(
      `fetching took longer than ${bounds.seconds} seconds (bounds.seconds): what has arrived stays, and the next sync goes on there`,
    );
  }
  return { paths, version: hash('sha256', JSON.stringify(versions)) };
}
