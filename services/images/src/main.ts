import { ImagesAdminServiceService, OPERATOR_RULES } from '@brand-data/contracts';
import {
  closeHttpServer,
  installationOr,
  isSetUp,
  runService,
  runSetUp,
  startGrpcServer,
} from '@brand-data/runtime';
import { imagesAdminService } from './admin-service.ts';
import { serviceSpec, storageSpec } from './config.ts';
import { createHttpServer } from './http/server.ts';
import { measureWorkers, registerCacheMetrics } from './metrics.ts';
import { createPictures } from './pictures.ts';
import { openWorkers } from './rendering/workers.ts';
import { openStorage } from './storage.ts';

if (isSetUp(process.argv)) await runSetUp('images', storageSpec, openStorage);
else
  await runService('images', serviceSpec, async (service, config) => {
    const store = await openStorage(service, config);
    const workers = measureWorkers(service, await openWorkers(service, { count: config.IMAGE_WORKERS }));
    await startGrpcServer(service, {
      host: config.HOST,
      port: config.ADMIN_GRPC_PORT,
      services: [
        {
          definition: ImagesAdminServiceService,
          handlers: { ...imagesAdminService(service, store, workers) },
        },
      ],
      operators: {
        ...OPERATOR_RULES,
        authenticate: installationOr(service, config.OPERATOR_TOKEN, async () => 'unknown'),
      },
    });
    const pictures = createPictures(store, workers, { cacheBytes: config.IMAGE_CACHE_BYTES });
    registerCacheMetrics(service, pictures.stats);
    const http = createHttpServer(service, pictures);
    await http.listen({ host: config.HOST, port: config.PORT });
    service.onStop('HTTP server', () => closeHttpServer(http));
  });
