import { CatalogAdminServiceService, CatalogServiceService } from '@brand-data/contracts';
import {
  connectMongo,
  connectNats,
  parseConfig,
  retryUntilStopped,
  runService,
  startGrpcServer,
} from '@brand-data/runtime';
import { catalogAdminService } from './admin-service.ts';
import { catalogService } from './catalog-service.ts';
import { config as spec } from './config.ts';
import { openCatalogStore } from './store.ts';

const config = () => parseConfig(process.env, spec);

await runService('catalog', config, async (service) => {
  const { HOST, GRPC_PORT, ADMIN_GRPC_PORT, OPERATOR_TOKEN, MONGODB_URL, MONGODB_DATABASE, NATS_URL } =
    config();
  const mongo = await connectMongo(service, MONGODB_URL, MONGODB_DATABASE);
  const store = await retryUntilStopped('indexes', () => openCatalogStore(mongo), service);
  const nats = await connectNats(service, NATS_URL);
  await startGrpcServer(service, {
    host: HOST,
    port: GRPC_PORT,
    services: [{ definition: CatalogServiceService, handlers: { ...catalogService(service, store) } }],
  });
  await startGrpcServer(service, {
    host: HOST,
    port: ADMIN_GRPC_PORT,
    services: [
      { definition: CatalogAdminServiceService, handlers: { ...catalogAdminService(service, store, nats) } },
    ],
    operatorToken: OPERATOR_TOKEN,
  });
});
