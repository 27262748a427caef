import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Expands folders into the wanted files below them, sorted by path. */
export async function filesOf(
  paths: readonly string[],
  isWanted: (name: string) => boolean,
): Promise<string[]> {
  const files = await Promise.all(
    paths.map(async (path) => {
      if (!(await stat(path)).isDirectory()) return [path];
      const entries = await readdir(path, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && isWanted(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
        .sort();
    }),
  );
  return files.flat();
}

/** Returns how many bytes the files have as they are stored, or 0 if one of them is a pipe, whose size is not known. */
export async function sizeOf(files: readonly string[]): Promise<number> {
  const stats = await Promise.all(files.map((file) => stat(file)));
  return stats.every((each) => each.isFile()) ? stats.reduce((sum, { size }) => sum + size, 0) : 0;
}
