import { auditPublisher, GRPC_SERVICES, OPERATOR_RULES } from '@brand-data/contracts';
import {
  closeHttpServer,
  connectNatsLater,
  diagnosisService,
  installationOrPass,
  isSetUp,
  openTransport,
  runService,
  runSetUp,
  startGrpcServer,
  trailTo,
} from '@brand-data/runtime';
import { imagesAdminService } from './admin/admin-service.ts';
import { serviceSpec, storageSpec } from './config.ts';
import { createImageServer } from './http/server.ts';
import { registerPictureMetrics } from './pictures/picture-metrics.ts';
import { Pictures } from './pictures/pictures.ts';
import { openStorage } from './storage.ts';
import { measureWorkers } from './workers/measure-workers.ts';
import { openWorkers } from './workers/workers.ts';

if (isSetUp(process.argv)) await runSetUp('images', storageSpec, openStorage);
else
  await runService('images', serviceSpec, async (service, config) => {
    const store = await openStorage(service, config);
    const workers = measureWorkers(service, await openWorkers(service, { count: config.IMAGE_WORKERS }));
    // Pictures are served without NATS. Only changes need it, for the trail.
    const { publish } = connectNatsLater(service, config);
    const trail = trailTo(service, auditPublisher('images', publish));
    const transport = await openTransport(service, config);
    await startGrpcServer(service, {
      transport,
      host: config.HOST,
      port: config.ADMIN_GRPC_PORT,
      services: [
        {
          ...GRPC_SERVICES.ImagesAdminService,
          handlers: { ...imagesAdminService(service, store, workers, trail) },
        },
        { ...GRPC_SERVICES.DiagnosisAdminService, handlers: diagnosisService(service) },
      ],
      operators: {
        ...OPERATOR_RULES,
        authenticate: installationOrPass(service, config),
      },
    });
    const pictures = new Pictures(store, workers, { cacheBytes: config.IMAGE_CACHE_BYTES });
    registerPictureMetrics(service, pictures);
    const http = createImageServer(service, pictures);
    await http.listen({ host: config.HOST, port: config.PORT });
    service.onStop('HTTP server', () => closeHttpServer(http));
  });
