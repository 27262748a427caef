import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { freePort } from '@brand-data/servers';
import { expect, test } from 'vitest';

const STOP_WITHIN_MS = 1_000;

/** Starts a service that does nothing, and waits until it is ready. `ended` resolves to its status and what it wrote to stderr. */
async function startService(): Promise<{
  signal: (name: NodeJS.Signals) => void;
  ready: () => Promise<number | undefined>;
  ended: Promise<{ status: number | null; said: string }>;
}> {
  const port = await freePort();
  const program = `
    import { runService } from '${new URL('../src/service/run-service.ts', import.meta.url)}';
    await runService('test', {}, async () => {}, ${STOP_WITHIN_MS});`;
  const settings = {
    LOG_LEVEL: 'silent',
    HOST: '127.0.0.1',
    OPS_PORT: `${port}`,
    DRAIN_MS: `${2 * STOP_WITHIN_MS}`,
  };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const said = text(child.stderr);
  const ended = once(child, 'exit').then(async ([status]) => ({ status, said: await said }));
  const ready = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status,
      () => undefined,
    );
  await expect.poll(ready).toBe(200);
  return { signal: (name) => child.kill(name), ready, ended };
}

test('a service that is told to stop serves on for DRAIN_MS, however long, and then stops cleanly', async () => {
  const { signal, ready, ended } = await startService();
  signal('SIGTERM');
  await expect.poll(ready).toBe(503);
  expect(await ended).toEqual({ status: 0, said: '' });
});

test('no signal opens a debugger in a service', async () => {
  const { signal, ended } = await startService();
  signal('SIGUSR1');
  signal('SIGTERM');
  expect(await ended).toEqual({ status: 0, said: '' });
});
