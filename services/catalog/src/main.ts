import { CatalogAdminServiceService, CatalogServiceService } from '@brand-data/contracts';
import {
  checkTransactionLifetime,
  connectMongo,
  connectNats,
  isSetUp,
  parseConfig,
  retryUntilStopped,
  runService,
  runSetUp,
  type Service,
  startGrpcServer,
} from '@brand-data/runtime';
import { catalogAdminService } from './admin-service.ts';
import { startAnnouncer } from './announcer.ts';
import { catalogService } from './catalog-service.ts';
import { setUpSpec, config as spec } from './config.ts';
import { candidateFinder } from './lookup/candidates.ts';
import { catalogStore, openCollections } from './storage/store.ts';

const config = () => parseConfig(process.env, spec);

if (isSetUp(process.argv)) await runSetUp('catalog', () => parseConfig(process.env, setUpSpec), openDatabase);
else await runService('catalog', config, serve);

async function openDatabase(
  service: Service,
  { MONGODB_URL, MONGODB_DATABASE }: { MONGODB_URL: string; MONGODB_DATABASE: string },
) {
  const mongo = await connectMongo(service, MONGODB_URL, MONGODB_DATABASE);
  await checkTransactionLifetime(service, mongo);
  return { mongo, collections: await retryUntilStopped('indexes', () => openCollections(mongo), service) };
}

async function serve(service: Service): Promise<void> {
  const settings = config();
  const { HOST, GRPC_PORT, ADMIN_GRPC_PORT, OPERATOR_TOKEN, NATS_URL } = settings;
  const { mongo, collections } = await openDatabase(service, settings);
  const findCandidates = candidateFinder(collections.companies);
  const store = catalogStore(mongo, collections);
  const nats = await connectNats(service, NATS_URL);
  const announcer = startAnnouncer(service, nats);
  await startGrpcServer(service, {
    host: HOST,
    port: GRPC_PORT,
    services: [
      { definition: CatalogServiceService, handlers: { ...catalogService(service, findCandidates) } },
    ],
  });
  await startGrpcServer(service, {
    host: HOST,
    port: ADMIN_GRPC_PORT,
    services: [
      {
        definition: CatalogAdminServiceService,
        handlers: { ...catalogAdminService(service, { findCandidates, store, announcer }) },
      },
    ],
    operatorToken: OPERATOR_TOKEN,
  });
}
