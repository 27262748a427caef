import { readFileSync } from 'node:fs';

/** The version of this release, "1.4.0": that of the root's package.json, which `npm run generate` writes into all packages. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
