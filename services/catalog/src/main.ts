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
import { startAnnouncer } from './announcer.ts';
import { catalogService } from './catalog-service.ts';
import { config as spec } from './config.ts';
import { catalogStore, openCollections } from './store.ts';

const config = () => parseConfig(process.env, spec);

await runService('catalog', config, async (service) => {
  const { HOST, GRPC_PORT, ADMIN_GRPC_PORT, OPERATOR_TOKEN, MONGODB_URL, MONGODB_DATABASE, NATS_URL } =
    config();
  const mongo = await connectMongo(service, MONGODB_URL, MONGODB_DATABASE);
  const collections = await retryUntilStopped('indexes', () => openCollections(mongo), service);
  const { companies } = collections;
  const store = catalogStore(mongo, collections);
  const nats = await connectNats(service, NATS_URL);
  const announcer = startAnnouncer(service, nats);
  await startGrpcServer(service, {
    host: HOST,
    port: GRPC_PORT,
    services: [{ definition: CatalogServiceService, handlers: { ...catalogService(service, companies) } }],
  });
  await startGrpcServer(service, {
    host: HOST,
    port: ADMIN_GRPC_PORT,
    services: [
      {
        definition: CatalogAdminServiceService,
        handlers: { ...catalogAdminService(service, { companies, store, announcer }) },
      },
    ],
    operatorToken: OPERATOR_TOKEN,
  });
});
