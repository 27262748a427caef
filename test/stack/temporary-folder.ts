import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';

/** A new folder; all of them are removed after the last test. */
export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(inject('temporaryFolder'), 'test-'));
}
