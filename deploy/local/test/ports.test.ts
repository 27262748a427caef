import { createServer } from 'node:net';
import { freePort } from '@brand-data/servers';
import { expect, onTestFinished, test } from 'vitest';
import { requireFreePorts, stackPorts } from '../src/ports.ts';

async function occupy(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
}

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
