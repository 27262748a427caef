import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The paths, with the files of folders (below them too, by name) in their place, as far as `isWanted`. */
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

/** How many bytes the files have as they are stored; 0 with a pipe among them, whose end is not known. */
export async function sizeOf(files: readonly string[]): Promise<number> {
  const stats = await Promise.all(files.map((file) => stat(file)));
  return stats.every((each) => each.isFile()) ? stats.reduce((sum, { size }) => sum + size, 0) : 0;
}
