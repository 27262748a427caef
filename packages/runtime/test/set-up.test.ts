import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const source = (file: string) => new URL(`../src/${file}`, import.meta.url).href;

async function run(program: string): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, LOG_LEVEL: 'silent', SET_UP_TIMEOUT_MS: '500' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code] = await once(child, 'exit');
  return { code, stderr };
}

const setUp = (body: string) => `
  import { runSetUp } from '${source('service/run-service.ts')}';
  import { connectMongo } from '${source('mongo/connect.ts')}';
  import { connectNats } from '${source('nats/nats.ts')}';
  import { retryUntilStopped } from '${source('service/service.ts')}';
  await runSetUp('test', {}, async (service) => {
    ${body}
  });`;

test.each([
  [
    'MongoDB',
    `await connectMongo(service, { MONGODB_URL: 'mongodb://me:secret@127.0.0.1:1/?replicaSet=rs' }, 'test')`,
  ],
  ['NATS', `await connectNats(service, { NATS_URL: 'nats://me:secret@127.0.0.1:1' })`],
  ['that', `await retryUntilStopped('that', async () => { throw new Error('not there'); }, service)`],
])('setting up without %s ends in time with 1 and the reason, without a password', async (what, body) => {
  const { code, stderr } = await run(setUp(body));
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^test set-up: ${what}: .+\n$`));
  expect(stderr).not.toContain('secret');
});

test('setting up that hangs ends with 1, and one that is done with 0 though something does not close', async () => {
  const hanging = await run(setUp('setInterval(() => {}, 1_000); await new Promise(() => {});'));
  expect(hanging).toEqual({ code: 1, stderr: 'test set-up: the set-up did not finish within 0.5 s\n' });
  const done = await run(
    setUp('setInterval(() => {}, 1_000); service.onStop("it", () => new Promise(() => {}));'),
  );
  expect(done).toEqual({ code: 0, stderr: '' });
});
