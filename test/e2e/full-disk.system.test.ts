import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { runBds } from '@brand-data/operator/test/run-bds.ts';
import { freePort, type LocalServer, startNatsServer } from '@brand-data/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

const run = promisify(execFile);
const PATIENCE = { timeout: 120_000 };

/** Mounts a disk that can be full. Only root on Linux can. */
async function mountDisk() {
  const folder = await temporaryFolder();
  const mount = (...options: string[]) => run('mount', ['-o', options.join(), folder]);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=4g', 'tmpfs', folder]);
  return {
    folder,
    /** A server that goes on writing may need more than the size that was just right, which Linux then refuses. */
    fill: () =>
      vi.waitFor(async () => {
        const { bsize, blocks, bfree } = await statfs(folder);
        await mount('remount', `size=${(blocks - bfree) * bsize}`);
      }, PATIENCE),
    makeRoom: () => mount('remount', 'size=4g'),
    remove: () => run('umount', [folder]),
  };
}

const disk = await mountDisk().catch(() => undefined);

describe.skipIf(disk === undefined)('while the disk of NATS is full (only root can try it)', () => {
  let nats: LocalServer;
  let health: string;
  let stack: TestStack;
  let operator: TestOperator;
  beforeAll(async () => {
    const dataDir = disk?.folder ?? '';
    const http = `127.0.0.1:${await freePort()}`;
    health = `http://${http}/healthz`;
    // As in the quickstart (deploy/chart/files/nats.conf).
    const jetstream = `jetstream { store_dir: "${dataDir}", sync_interval: always, max_file_store: 2Gi }`;
    nats = await startNatsServer({ dataDir, settings: [`http: "${http}"`, jetstream] });
    stack = await startTestStack({ gateways: 1, replicas: { images: 0 }, natsUrl: nats.url });
    operator = new TestOperator(stack);
    await operator.putBrands([fullStock]);
  });
  afterAll(async () => {
    operator?.close();
    await stack?.stop();
    await nats?.stop();
    await disk?.remove();
  });

  const statusOf = async (token: string) => {
    const answer = await callerOf(stack.gateways[0] ?? { url: '' }).brand('ZPHX', token);
    await answer.body?.cancel();
    return answer.status;
  };
  const isHealthy = async () => ((await (await fetch(health)).json()) as { status: string }).status === 'ok';
  /** What `bds doctor` finds about the writes to the stream of usage. */
  const writes = async () => {
    const { out } = await runBds(stack, stack.dataDir, ['doctor', '--json']);
    const { checks } = JSON.parse(out) as { checks: { check: string; state: string }[] };
    return checks.find(({ check }) => check === 'writes to BRAND_DATA_USAGE')?.state;
  };

  test('calls are answered and billed once, a revoked key is refused, and with room NATS goes on when its probe restarts it', async () => {
    const { accountId, token } = await operator.newAccount(1_000_000);
    const revoked = await operator.createKey(accountId);
    let [answered, unsure] = [0, 0];
    // A call that a busy machine answers with 503 is made again, and may be billed.
    const call = async (of = token) => {
      for (let status = 0; status !== 200; ) {
        status = await statusOf(of);
        expect([200, 503]).toContain(status);
        if (status === 200) answered += 1;
        else unsure += 1;
      }
    };
    await call(revoked.token);
    await call();
    expect(await writes()).toBe('ok');

    await disk?.fill();
    await expect
      .poll(async () => {
        await call();
        return isHealthy();
      })
      .toBe(false);
    // Another stream than that of usage may be the first whose last page is full.
    await expect
      .poll(async () => {
        for (let calls = 0; calls < 20; calls++) await call();
        return writes();
      }, PATIENCE)
      .toBe('wrong');
    // The change is made. It is confirmed only if the stream of changes has a page with room.
    await operator.revokeKey(revoked.keyId).catch(() => {});
    await expect.poll(() => statusOf(revoked.token)).toBe(401);
    // The probe restarts NATS also while the disk is still full.
    for (const makeRoom of [async () => {}, disk?.makeRoom]) {
      await nats.child.stop();
      await makeRoom?.();
      await nats.child.start();
      await call();
    }
    await expect.poll(writes, PATIENCE).toBe('ok');
    await call();
    const used = (await operator.usage(accountId))[0]?.used ?? 0;
    expect(used).toBeGreaterThanOrEqual(answered);
    expect(used).toBeLessThanOrEqual(answered + unsure);
  }, 480_000);
});
