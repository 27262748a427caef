import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder. All folders of temporary files are removed after the last test (`test/stack/global-setup.ts`). */
export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'test-'));
}
