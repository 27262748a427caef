import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';

/** Writes a new file, alone in a new folder. All these folders are removed after the last test. */
export async function fileOf(content: string | Buffer, extension = ''): Promise<string> {
  const file = join(await temporaryFolder(), `${randomUUID()}${extension}`);
  await writeFile(file, content);
  return file;
}
