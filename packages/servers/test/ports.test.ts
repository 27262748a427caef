import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';

test('no two callers get the same port, in one process or in several at once', async () => {
  // A process keeps its ports until it ends, so all processes wait for the last one.
  const ask = `
    import { freePort } from '${new URL('../src/ports.ts', import.meta.url)}';
    console.log(JSON.stringify(await Promise.all(Array.from({ length: 300 }, freePort))));
    process.stdin.resume();`;
  const processes = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', ask], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  onTestFinished(() => {
    for (const child of processes) child.kill();
  });
  const lines = await Promise.all(
    processes.map(async ({ stdout }) => (await once(createInterface(stdout), 'line'))[0]),
  );
  const ports = lines.flatMap((line) => JSON.parse(line) as number[]);
  expect(ports).toHaveLength(1_200);
  expect(new Set(ports).size).toBe(1_200);
});
