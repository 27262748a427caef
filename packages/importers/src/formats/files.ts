import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The files of the paths. A folder is replaced by all files in it, at any depth and sorted by path, that `isWanted`. */
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

/** How many bytes the files have as they are stored. 0 if one of them is a pipe, because its size is not known. */
export async function sizeOf(files: readonly string[]): Promise<number> {
  const stats = await Promise.all(files.map((file) => stat(file)));
  return stats.every((each) => each.isFile()) ? stats.reduce((sum, { size }) => sum + size, 0) : 0;
}
