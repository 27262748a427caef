import { GRPC_SERVICES } from '@brand-data/contracts';
import {
  auditPublisher,
  closeHttpServer,
  connectNatsLater,
  installationOrPass,
  runBackend,
  Trail,
} from '@brand-data/runtime';
import { imagesAdminService } from './admin/admin-service.ts';
import { serviceSpec, storageSpec } from './config.ts';
import { createImageServer } from './http/server.ts';
import { Pictures, registerPictureMetrics } from './pictures/pictures.ts';
import { openStorage } from './store/store.ts';
import { openWorkers } from './workers/workers.ts';

await runBackend('images', { storageSpec, openStorage, serviceSpec }, async (service, config, ports) => {
  const store = await openStorage(service, config);
  const workers = await openWorkers(service, { count: config.IMAGE_WORKERS });
  // Pictures are served without NATS. Only changes need it, for the trail.
  const { publish } = connectNatsLater(service, config);
  const trail = new Trail(service, auditPublisher('images', publish));
  await ports.serveOperators(
    ports.adminPort(installationOrPass(service, config)),
    GRPC_SERVICES.ImagesAdminService,
    imagesAdminService(service, store, workers, trail),
  );
  const pictures = new Pictures(store, workers, {
    cacheBytes: config.IMAGE_CACHE_BYTES,
    monogramKeys: config.MONOGRAM_KEYS,
    workerCount: config.IMAGE_WORKERS,
  });
  registerPictureMetrics(service, pictures);
  const http = createImageServer(service, pictures, config.TRUSTED_PROXIES);
  await http.listen({ host: config.HOST, port: config.PORT });
  service.onStop('HTTP server', () => closeHttpServer(http));
});
