import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { helm } from '../../deploy/chart/test/tools.ts';
import { type Namespace, RELEASE } from './cluster.ts';

const run = promisify(execFile);

/**
 * Runs the commands that Helm prints after an install in a temporary folder, and then `more` while the ports that they forward
 * are still open. Returns the standard output.
 */
export async function followNotes(namespace: Namespace, ...more: string[]): Promise<string> {
  const notes = await namespace.helm('get', 'notes', RELEASE);
  const commands = notes.split('\n').filter((line) => line.startsWith('     '));
  if (commands.length < 5) throw new Error(`only ${commands.length} commands in the notes`);
  const script = ['set -euo pipefail', "trap 'kill $(jobs -p)' EXIT", ...commands, ...more].join('\n');
  const folder = await mkdtemp(join(tmpdir(), 'notes-'));
  try {
    const env = { ...process.env, PATH: [dirname(helm.path), process.env.PATH].join(delimiter) };
    const options = { cwd: folder, env, timeout: 240_000, maxBuffer: 16 * 1024 ** 2 };
    return (await run('bash', ['-c', script], options)).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
