import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, requireFreePorts, stackPorts } from '../src/ports.ts';

async function occupy(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
}

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

test('the error for a taken port is one line that names the port and suggests another', async () => {
  const port = await freePort();
  await occupy(port);
  await expect(requireFreePorts(port, 1)).rejects.toThrow(new RegExp(`^Port ${port} .* -- --port \\d+$`));
});

test('gateways get consecutive ports, and every other listener gets its previous port if that is free', async () => {
  const first = await freePort();
  const kept: Record<string, number> = {};
  const portFor = stackPorts(first, kept);
  expect([await portFor('gateway-1'), await portFor('gateway-2')]).toEqual([first, first + 1]);
  const chosen = { accounts: await portFor('accounts'), metering: await portFor('metering') };
  expect(chosen.accounts).not.toBe(chosen.metering);
  expect(kept).toEqual(chosen);

  await occupy(chosen.accounts);
  const again = stackPorts(first, kept);
  expect(await again('metering')).toBe(chosen.metering);
  expect(await again('accounts')).not.toBe(chosen.accounts);
});
