import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const FOLDER = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'brand-data-service', 'python');

/** The folder of the programs that `get-packages` installs: `python`, `schemathesis` and `openapi-python-client`. */
export const PYTHON_PROGRAMS = join(FOLDER, 'bin');

/** Whether they are there. If not, tests that need them are skipped. */
export const hasPython = existsSync(join(FOLDER, 'installed'));
if (!hasPython)
  process.stderr.write(
    '\nSKIPPED: tests that run Python: test/python/get-packages installs what they need, and needs Python 3.11\n',
  );
