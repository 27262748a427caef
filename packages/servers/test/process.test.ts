import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRunning } from '@brand-data/testing/is-running';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Child, type ChildOptions } from '../src/process.ts';

const PATIENCE = { timeout: 60_000 };

async function child(script: string, options: Partial<ChildOptions> = {}) {
  const folder = await temporaryFolder();
  const said: string[] = [];
  const made = new Child({
    name: 'sleeper',
    command: '/bin/sh',
    args: ['-c', script],
    env: { PATH: process.env.PATH },
    logFile: join(folder, 'log'),
    ready: async () => true,
    readyWithinMs: 5_000,
    stopWithinMs: 5_000,
    restart: true,
    say: (line) => said.push(line),
    ...options,
  });
  onTestFinished(() => made.kill());
  return { child: made, said };
}

test('a process that is killed from outside is restarted, and the user gets a message', async () => {
  const { child: sleeper, said } = await child('exec sleep 600');
  await sleeper.start();
  const first = sleeper.pid ?? 0;
  process.kill(first, 'SIGKILL');
  await vi.waitFor(() => expect(said).toContain('sleeper is back'), PATIENCE);
  expect(isRunning(sleeper.pid)).toBe(true);
  expect(sleeper.pid).not.toBe(first);
  expect(said[0]).toMatch(/^sleeper ended \(SIGKILL\); starting it again in 0\.25 s/);
});

test('a process that ends again and again is restarted after growing pauses', async () => {
  let starts = 0;
  const { child: failing, said } = await child('exec sleep 0.2', { ready: async () => starts++ === 0 });
  await failing.start();
  await vi.waitFor(() => expect(said.filter((line) => line.includes('again in'))).toHaveLength(3), PATIENCE);
  const pauses = said.map((line) => Number(/again in ([\d.]+) s/.exec(line)?.[1])).filter(Number.isFinite);
  expect(pauses.slice(0, 3)).toEqual([0.25, 0.5, 1]);
});

test.for(['stop', 'kill'] as const)('after %s it stays down until it is started', async (end) => {
  const { child: sleeper, said } = await child('exec sleep 600');
  await sleeper.start();
  const first = sleeper.pid;
  await sleeper[end]();
  expect(isRunning(first)).toBe(false);
  expect(sleeper.pid).toBeUndefined();
  await sleeper.start();
  expect(isRunning(sleeper.pid)).toBe(true);
  expect(said).toEqual([]);
});

test('a process that ignores SIGTERM is killed at its deadline', async () => {
  const { child: deaf } = await child("trap '' TERM; echo deaf; while :; do sleep 0.1; done", {
    stopWithinMs: 300,
  });
  await deaf.start();
  const { pid } = deaf;
  await deaf.stop();
  expect(isRunning(pid)).toBe(false);
});

test('if a process ends before it is ready, the Problem contains the last line of its log', async () => {
  const { child: broken } = await child('echo first; echo the reason; exit 3', { ready: async () => false });
  await expect(broken.start()).rejects.toThrow(/^sleeper ended at its start: the reason/);
});

test('aborting a start ends its process', async () => {
  const stopping = new AbortController();
  const { child: slow } = await child('exec sleep 600', {
    ready: async () => false,
    signal: stopping.signal,
  });
  const start = slow.start();
  await vi.waitFor(() => expect(isRunning(slow.pid)).toBe(true), PATIENCE);
  const { pid } = slow;
  stopping.abort();
  await expect(start).rejects.toThrow();
  expect(isRunning(pid)).toBe(false);
});

test('a process ends when its parent is killed with SIGKILL', async () => {
  const folder = await temporaryFolder();
  const module = pathToFileURL(join(import.meta.dirname, '../src/process.ts')).href;
  const parent = spawn(process.execPath, [
    '--input-type=module',
    '--eval',
    `const { Child } = await import(${JSON.stringify(module)});
     const child = new Child({
       name: 'sleeper', command: '/bin/sh', args: ['-c', 'exec sleep 600'], env: process.env,
       logFile: ${JSON.stringify(join(folder, 'log'))}, ready: async () => true, readyWithinMs: 5000,
       stopWithinMs: 5000, restart: true, say: () => {},
     });
     await child.start();
     console.log(child.pid);`,
  ]);
  const [pid] = (await once(parent.stdout, 'data')).map(Number);
  expect(isRunning(pid)).toBe(true);
  parent.kill('SIGKILL');
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), PATIENCE);
});

test('if a process ends at its start, the error has its name and the line of its log that reports the error', async () => {
  const script = `echo '{"level":"fatal","msg":"the port is taken"}'; echo '{"level":"info","msg":"stopped"}'`;
  const { child: failing } = await child(script, { ready: async () => false });
  await expect(failing.start()).rejects.toThrow(/^sleeper ended at its start: .*the port is taken/);
});
