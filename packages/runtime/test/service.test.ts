import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '@brand-data/servers';
import { expect, test } from 'vitest';

test('a service that is told to stop serves on for DRAIN_MS, however long, and then stops cleanly', async () => {
  const port = await freePort();
  const stopWithinMs = 1_000;
  const program = `
    import { runService } from '${new URL('../src/service/run-service.ts', import.meta.url)}';
    await runService('test', {}, async () => {}, ${stopWithinMs});`;
  const settings = {
    LOG_LEVEL: 'silent',
    HOST: '127.0.0.1',
    OPS_PORT: `${port}`,
    DRAIN_MS: `${2 * stopWithinMs}`,
  };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, ...settings },
    stdio: 'inherit',
  });
  const ended = once(child, 'exit');
  const ready = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status,
      () => undefined,
    );
  await expect.poll(ready).toBe(200);
  child.kill('SIGTERM');
  await expect.poll(ready).toBe(503);
  expect(await ended).toEqual([0, null]);
});
