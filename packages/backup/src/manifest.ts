import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseService } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';

/** One file of a copy. */
export interface CopiedFile {
  /** The path below the copy's folder. */
  file: string;
  /** How many documents or messages it has. */
  count: number;
  /** The size of the compressed file. */
  bytes: number;
  /** The hash of the compressed file, as hexadecimal digits. */
  sha256: string;
}

/** A collection, as the server describes it. */
export interface CopiedCollection extends CopiedFile {
  name: string;
  /** The arguments of the command `createIndexes`, without the index on `_id`. */
  indexes: readonly Record<string, unknown>[];
}

/** The database of one service. */
export interface CopiedDatabase {
  service: DatabaseService;
  /** The moment of the copy by MongoDB's clock, as ISO 8601 in UTC. Databases with the same `clusterTime` are of one moment. */
  at: string;
  /** The moment as MongoDB's cluster time: "seconds.increment". */
  clusterTime: string;
  collections: readonly CopiedCollection[];
}

/** The messages of a usage stream that the copied ledgers may not contain yet. */
export interface CopiedStream extends CopiedFile {
  name: string;
  /** When NATS created the stream. A stream with another time is a different one, and its sequences start anew. */
  created: string;
  /** Metering had applied all messages up to this sequence before the moment of the databases. */
  appliedUpTo: number;
}

/** The list of what is in a copy. It is written last, so a folder without it is not a complete copy. */
export interface Manifest {
  format: 1;
  /** The version of bds. */
  version: string;
  mongodbVersion: string;
  /** As ISO 8601 in UTC. */
  startedAt: string;
  endedAt: string;
  databases: readonly CopiedDatabase[];
  /** Empty: the copy does not include metering. */
  streams: readonly CopiedStream[];
}

const MANIFEST = 'manifest.json';

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const path = join(folder, MANIFEST);
  await writeFile(`${path}.part`, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.part`, path);
}

/** Throws Fault `failed_precondition` if the folder has no whole copy that this version can read. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new Fault('failed_precondition', `${folder} holds no whole copy: it has no ${MANIFEST}`);
  });
  const manifest: Partial<Manifest> = parse(text);
  if (manifest.format !== 1 || !Array.isArray(manifest.databases) || !Array.isArray(manifest.streams))
    throw new Fault('failed_precondition', `${folder}/${MANIFEST} is not of a copy that this bds can read`);
  return manifest as Manifest;
}

function parse(text: string): object {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
