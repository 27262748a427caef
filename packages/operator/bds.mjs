#!/usr/bin/env node
// Runs on any Node: one that cannot run TypeScript hands over to the workspace's own.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Ctrl-C comes from the terminal and from npm: what comes again so soon is the same. */
const SAME_MS = 500;
/** What is under way when Ctrl-C is pressed may take this long. */
const STOP_WITHIN_MS = 15_000;
const INTERRUPTED = 130;

if (Number.parseInt(process.versions.node, 10) >= 24) {
  const { main } = await import('./src/main.ts');
  const { stdout, stderr, env } = process;
  // The reader has had enough: `bds … | head`.
  stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  process.exitCode = await main(process.argv.slice(2), {
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    interruption,
  });
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

/** Aborted by the first Ctrl-C (or SIGTERM); the second ends the process. */
function interruption() {
  const controller = new AbortController();
  let toldAt;
  const tell = () => {
    const now = performance.now();
    if (toldAt !== undefined && now - toldAt > SAME_MS) process.exit(INTERRUPTED);
    if (toldAt !== undefined) return;
    toldAt = now;
    process.stderr.write('\nbds: stopping; Ctrl-C again ends it at once\n');
    setTimeout(() => process.exit(INTERRUPTED), STOP_WITHIN_MS).unref();
    controller.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, tell);
  return controller.signal;
}

/** @param {string} folder @returns {string | undefined} */
function findNode(folder) {
  const node = join(folder, 'node_modules', '.bin', 'node');
  if (existsSync(node)) return node;
  const parent = dirname(folder);
  return parent === folder ? undefined : findNode(parent);
}
