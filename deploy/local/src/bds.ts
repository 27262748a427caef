import { dirname } from 'node:path';
import { main } from '@brand-data/operator';
import { Problem } from './problem.ts';

/** Runs one command of the operator's command line and gives its answer. Rejects with a Problem: what it said. */
export type Bds = (...args: string[]) => Promise<unknown>;

/**
 * The operator's command line in this process, told by `connectionFile` which services to reach. What it writes by
 * itself, such as the records that an import refused, is beside that file.
 */
export function bdsWith(connectionFile: string): Bds {
  return async (...args) => {
    const written = { stdout: '', stderr: '' };
    const capture = (stream: keyof typeof written) => ({
      write(text: string) {
        written[stream] += text;
      },
    });
    const status = await main(['--json', ...args], {
      stdout: capture('stdout'),
      stderr: capture('stderr'),
      env: { BDS_STACK: connectionFile },
      cwd: dirname(connectionFile),
    });
    if (status !== 0) throw new Problem(written.stderr.trim());
    return JSON.parse(written.stdout);
  };
}
