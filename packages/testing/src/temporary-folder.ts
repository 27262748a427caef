import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';

/** Creates a folder. All these folders are removed after the last test. */
export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(inject('temporaryFolder'), 'test-'));
}
