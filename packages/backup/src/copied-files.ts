import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
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

/** Writes the parts into a compressed file that only its owner may read. `parts` yields one document or message at a time. */
export async function writeCopied(
  folder: string,
  file: string,
  parts: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<CopiedFile> {
  const path = join(folder, file);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const sum = createHash('sha256');
  let bytes = 0;
  let count = 0;
  await pipeline(
    async function* () {
      for await (const part of parts) {
        count += 1;
        yield part;
      }
    },
    createGzip({ level: 4 }),
    async function* (compressed: AsyncIterable<Buffer>) {
      for await (const chunk of compressed) {
        sum.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    },
    createWriteStream(path, { mode: 0o600, flush: true }),
    { signal },
  );
  return { file, count, bytes, sha256: sum.digest('hex') };
}

/** Throws Fault `failed_precondition` if the file is not as it was written. */
export async function verifyCopied(
  folder: string,
  { file, sha256 }: CopiedFile,
  signal: AbortSignal,
): Promise<void> {
  const sum = createHash('sha256');
  await pipeline(createReadStream(join(folder, file)), sum, { signal }).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    throw new Fault('failed_precondition', `${file} is missing in the copy`);
  });
  if (sum.digest('hex') !== sha256)
    throw new Fault('failed_precondition', `${file} is damaged: its checksum differs from the manifest's`);
}

/** Returns the uncompressed content in pieces of any size. */
export function readCopied(folder: string, { file }: CopiedFile): AsyncIterable<Buffer> {
  const source = createReadStream(join(folder, file));
  const content = createGunzip();
  source.on('error', (error) => content.destroy(error));
  return source.pipe(content);
}
