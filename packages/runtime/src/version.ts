import { readFileSync } from 'node:fs';

/** The version of this release, "1.4.0". All packages of the release and its chart have the same: a test compares them. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;
