import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import type { TestStack } from '../../stack/index.ts';
import { writeCatalogue } from '../catalogue/record.ts';

/** Imports the first `records` made-up companies. */
export async function importMadeUp(stack: TestStack, records: number): Promise<void> {
  const folder = await temporaryFolder();
  const file = join(folder, 'catalogue.ndjson');
  try {
    await writeCatalogue(file, records);
    await stack.bds('import', 'records', file, '--source', 'made-up');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
