import { dirname } from 'node:path';
import { main } from '@brand-data/operator';
import { Problem } from '@brand-data/servers';

/**
 * Runs one `bds` command and resolves to its answer: with `--csv` text, else the parsed JSON. Rejects with a Problem that contains
 * the command's error output.
 */
export type Bds = (...args: string[]) => Promise<unknown>;

/**
 * Returns a function that runs `bds` in this process, with these settings. `connectionFile` names the services that `bds` calls.
 * Files that `bds` writes, such as the records that an import refused, go into the folder of `connectionFile`.
 */
export function bdsWith(connectionFile: string, settings: NodeJS.ProcessEnv = {}): Bds {
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
      env: { ...settings, BDS_STACK: connectionFile },
      cwd: dirname(connectionFile),
    });
    if (status !== 0) throw new Problem(written.stderr.trim());
    return args.includes('--csv') ? written.stdout : JSON.parse(written.stdout);
  };
}
