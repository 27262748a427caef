import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, onTestFinished, test } from 'vitest';
import { develop } from '../src/develop.ts';
import { keepCertificates, planStack, startStack } from '../src/index.ts';

test('a change of a file restarts the services that have loaded it, and no other', async () => {
  const dataDir = await temporaryFolder();
  const certificates = join(dataDir, 'certificates');
  await keepCertificates(certificates);
  const plan = await planStack({ dataDir, gateways: 0, certificates });
  const two = plan.services.filter(({ service }) => service === 'images' || service === 'accounts');
  const stack = await startStack({ ...plan, services: develop(two, { watch: true, inspect: false }) });
  onTestFinished(() => stack.stop());
  const startOf = async (service: string) => {
    const response = await fetch(`${plan.opsUrls.get(service)}/metrics`).catch(() => undefined);
    return /^process_start_time_seconds\S* (\S+)/m.exec((await response?.text()) ?? '')?.[1];
  };
  const before = { images: await startOf('images'), accounts: await startOf('accounts') };
  expect(before).toEqual({ images: expect.any(String), accounts: expect.any(String) });

  await utimes(fileURLToPath(import.meta.resolve('@brand-data/images/main')), new Date(), new Date());

  await expect.poll(() => startOf('images')).toMatch(new RegExp(`^(?!${before.images}$).`));
  expect(await startOf('accounts')).toBe(before.accounts);
});
