#!/usr/bin/env node
// Runs on any Node: one that cannot run TypeScript hands over to the workspace's own.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

if (Number.parseInt(process.versions.node, 10) >= 24) {
  const { main } = await import('./src/main.ts');
  const { stdout, stderr, env } = process;
  process.exitCode = await main(process.argv.slice(2), { stdout, stderr, env, cwd: process.cwd() });
} else {
  const script = fileURLToPath(import.meta.url);
  const node = findNode(dirname(script));
  if (node === undefined) {
    process.stderr.write(
      `bds: Node 24 is needed, this is ${process.version}: install the workspace's packages\n`,
    );
    process.exitCode = 1;
  } else {
    const { status } = spawnSync(node, [script, ...process.argv.slice(2)], { stdio: 'inherit' });
    process.exitCode = status ?? 1;
  }
}

/** @param {string} folder @returns {string | undefined} */
function findNode(folder) {
  const node = join(folder, 'node_modules', '.bin', 'node');
  if (existsSync(node)) return node;
  const parent = dirname(folder);
  return parent === folder ? undefined : findNode(parent);
}
