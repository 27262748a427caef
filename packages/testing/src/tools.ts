import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The folder into which `deploy/chart/test/get-tools` puts the tools. */
export const FETCHED = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'brand-data-service',
  'chart-tools',
);

/** Returns the path of a program that is on the PATH or was fetched. Undefined: tests that need the program are skipped. */
export function findTool(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), FETCHED];
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
