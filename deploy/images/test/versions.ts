import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');
export const dockerfile = readFileSync(join(ROOT, 'deploy/images/Dockerfile'), 'utf8');
export const manifest: { version: string; license: string } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
/** The version of pnpm that installs the workspace. */
export const pnpmVersion = /'pnpm@([\d.]+)'/.exec(
  readFileSync(join(ROOT, 'deploy/local/install.mjs'), 'utf8'),
)?.[1];
