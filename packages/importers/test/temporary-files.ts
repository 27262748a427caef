import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../../../test/stack/temporary-folder.ts';

/** A new file with this content, alone in its folder; all of them are removed after the last test. */
export async function fileOf(content: string | Buffer): Promise<string> {
  const file = join(await temporaryFolder(), randomUUID());
  await writeFile(file, content);
  return file;
}
