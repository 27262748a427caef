import { isSetUp, runService, runSetUp } from '@brand-data/runtime';
import { serviceSpec, storageSpec } from './config.ts';
import { openWorkers } from './rendering/workers.ts';
import { openStorage } from './storage.ts';

if (isSetUp(process.argv)) await runSetUp('images', storageSpec, openStorage);
else
  await runService('images', serviceSpec, async (service, config) => {
    await openStorage(service, config);
    await openWorkers(service, { count: config.IMAGE_WORKERS });
  });
