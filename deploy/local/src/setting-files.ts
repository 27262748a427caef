import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes settings of a process that are secret. Each gets a file that only its owner can read. */
export interface SettingFiles {
  /**
   * Writes the file, and resolves to the variable that names it to the process.
   *
   * @param name of the process, such as "gateway-1"
   */
  write(name: string, setting: string, value: string): Promise<Record<string, string>>;
  pathOf(name: string, setting: string): string;
}

export function settingFilesIn(folder: string): SettingFiles {
  const pathOf = (name: string, setting: string) => join(folder, `${name}.${setting}`);
  return {
    pathOf,
    write: async (name, setting, value) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(pathOf(name, setting), value, { mode: 0o600 });
      return { [`${setting}_FILE`]: pathOf(name, setting) };
    },
  };
}
