import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Logger } from '../observe/log.ts';

const LOOK_EVERY_MS = 2_000;

/**
 * Reads the settings that are given as files: `X_FILE` is the path of a file that holds the value of `X`. This keeps secrets out
 * of the environment, which other tools show. White space at the end of the file is not part of the value.
 *
 * @returns the environment with these settings; the problems, by the setting's name; and the settings whose files do not exist,
 *   which count as not set, so that only a setting that is required makes this a problem
 */
export function readSettingFiles(given: NodeJS.ProcessEnv, names: readonly string[]) {
  const environment = { ...given };
  const problems = new Map<string, string>();
  const missing = new Set<string>();
  for (const name of names) {
    const path = given[`${name}_FILE`];
    if (path === undefined || path === '') continue;
    if (given[name] !== undefined && given[name] !== '') {
      problems.set(name, `set both here and in the file that ${name}_FILE names: keep one of them`);
      continue;
    }
    try {
      environment[name] = readFileSync(path, 'utf8').trimEnd();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') missing.add(name);
      else problems.set(name, `the file that ${name}_FILE names cannot be read: ${codeOf(error)}`);
    }
  }
  return { environment, problems, missing };
}

/**
 * Calls `changed` each time that the file's text has changed, until the returned function is called. Looks every two seconds,
 * because Kubernetes replaces a mounted file by way of symbolic links, which the file system's notices do not cover. If `changed`
 * throws, logs the error: the old value stays in use until the file changes again.
 */
export function followFile(
  { path, what, log }: { path: string; what: string; log: Logger },
  changed: (text: string) => void,
): () => void {
  let last = existsSync(path) ? readFileSync(path, 'utf8').trimEnd() : '';
  const look = async (): Promise<void> => {
    // While the file is being replaced, it may be missing.
    const text = (await readFile(path, 'utf8').catch(() => last)).trimEnd();
    if (text === last) return;
    last = text;
    try {
      changed(text);
      log.info({ what }, 'a setting was read again, because its file has changed');
    } catch (error) {
      log.error({ what, reason: error instanceof Error ? error.message : '' }, 'the new value is refused');
    }
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
