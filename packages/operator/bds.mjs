#!/usr/bin/env node
// Runs on any version of Node. If the version cannot run TypeScript, it starts the workspace's own Node.
import { spawn } from 'node:child_process';
import { existsSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

/** One Ctrl-C may send two signals, from the terminal and from npm. A signal this soon after the first is ignored. */
const SAME_SIGNAL_MS = 500;
/** The process ends if the work in flight takes longer than this after Ctrl-C. */
const STOP_WITHIN_MS = 15_000;
const INTERRUPTED = 130;
const SIGNALS = ['SIGINT', 'SIGTERM'];

if (Number.parseInt(process.versions.node, 10) >= 24) {
  // V8 fits its heap to the machine's memory. Without these two flags, an import takes a quarter less of this process's time, but 460 MB
  // in place of 200. The first keeps the space for new objects small.
  setFlagsFromString('--semi-space-growth-factor=1');
  // Collects garbage when the heap has grown by so many percent.
  setFlagsFromString('--heap-growing-percent=50');
  const { main } = await import('./src/main.ts');
  const { stdin, stdout, stderr, env } = process;
  // EPIPE: the reader has closed the pipe, as in `bds … | head`.
  stdout.on('error', ({ code, message }) => {
    if (code === 'EPIPE') process.exit(0);
    writeSync(stderr.fd, `bds: the output cannot be written: ${message}\n`);
    process.exit(1);
  });
  process.exitCode = await main(process.argv.slice(2), {
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    ...(stdin.isTTY && stderr.isTTY && { ask }),
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
    const child = spawn(node, [script, ...process.argv.slice(2)], { stdio: 'inherit' });
    // A terminal sends Ctrl-C to the child too, which ignores the second signal.
    for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
    child.once('exit', (status, signal) => {
      process.exitCode = status ?? 128 + constants.signals[signal];
    });
  }
}

/** @param {string} question @param {boolean} [isSecret] @returns {Promise<string>} the answer; empty if there is none */
async function ask(question, isSecret = false) {
  const { createInterface } = await import('node:readline');
  const { Writable } = await import('node:stream');
  // The terminal shows what the interface writes. It writes nothing of a secret.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: process.stdin,
    output: isSecret ? nowhere : process.stderr,
    terminal: true,
  });
  if (isSecret) process.stderr.write(question);
  return new Promise((resolve) => {
    // Ctrl-C and Ctrl-D close it without an answer.
    lines.once('close', () => {
      if (isSecret) process.stderr.write('\n');
      resolve('');
    });
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

/** Returns a signal that the first Ctrl-C or SIGTERM aborts. The second one ends the process. */
function interruption() {
  const controller = new AbortController();
  let interruptedAt;
  const interrupt = () => {
    const now = performance.now();
    if (interruptedAt !== undefined && now - interruptedAt > SAME_SIGNAL_MS) process.exit(INTERRUPTED);
    if (interruptedAt !== undefined) return;
    interruptedAt = now;
    process.stderr.write('\nbds: stopping; Ctrl-C again ends it at once\n');
    setTimeout(() => process.exit(INTERRUPTED), STOP_WITHIN_MS).unref();
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return controller.signal;
}

/** @param {string} folder @returns {string | undefined} */
function findNode(folder) {
  const node = join(folder, 'node_modules', '.bin', 'node');
  if (existsSync(node)) return node;
  const parent = dirname(folder);
  return parent === folder ? undefined : findNode(parent);
}
