import { auditPublisher, GRPC_SERVICES, OPERATOR_RULES } from '@brand-data/contracts';
import {
  bringUpToDate,
  type ConfigOf,
  checkIndexes,
  checkTransactionLifetime,
  connectMongo,
  connectNats,
  diagnosisService,
  installationOrPass,
  isSetUp,
  openTransport,
  retryUntilStopped,
  runService,
  runSetUp,
  type Service,
  startGrpcServer,
  trailTo,
} from '@brand-data/runtime';
import { databaseSpec, serviceSpec } from './config.ts';
import { candidateFinder } from './lookup/candidates.ts';
import { similarFinder, suggester } from './lookup/suggestions.ts';
import { catalogAdminService } from './rpc/admin-service.ts';
import { catalogService } from './rpc/catalog-service.ts';
import { startAnnouncer } from './storage/announcer.ts';
import { openCollections } from './storage/collections.ts';
import { restorer } from './storage/restore.ts';
import { CatalogStore } from './storage/store.ts';

if (isSetUp(process.argv)) await runSetUp('catalog', databaseSpec, openDatabase);
else
  await runService('catalog', serviceSpec, async (service, config) => {
    const { mongo, collections } = await openDatabase(service, config);
    const findCandidates = candidateFinder(collections.companies);
    const suggest = suggester(service, {
      findSimilar: similarFinder(collections.companies),
      findCandidates,
    });
    const nats = await connectNats(service, config);
    const trail = trailTo(service, auditPublisher('catalog', nats.publish));
    const announcer = startAnnouncer(service, nats);
    const store = new CatalogStore(mongo, collections, announcer.announce);
    const restore = restorer(collections, announcer.announce);
    const transport = await openTransport(service, config);
    await startGrpcServer(service, {
      transport,
      host: config.HOST,
      port: config.GRPC_PORT,
      services: [
        {
          ...GRPC_SERVICES.CatalogService,
          handlers: { ...catalogService(service, { findCandidates, suggest }) },
        },
      ],
    });
    await startGrpcServer(service, {
      transport,
      host: config.HOST,
      port: config.ADMIN_GRPC_PORT,
      services: [
        {
          ...GRPC_SERVICES.CatalogAdminService,
          handlers: {
            ...catalogAdminService(service, {
              findCandidates,
              suggest,
              store,
              restore,
              announcer,
              trail,
            }),
          },
        },
        { ...GRPC_SERVICES.DiagnosisAdminService, handlers: diagnosisService(service) },
      ],
      operators: {
        ...OPERATOR_RULES,
        authenticate: installationOrPass(service, config),
      },
    });
  });

async function openDatabase(service: Service, settings: ConfigOf<typeof databaseSpec>) {
  const mongo = await connectMongo(service, settings, settings.MONGODB_DATABASE);
  await checkTransactionLifetime(service, mongo);
  await bringUpToDate(service, mongo);
  const collections = await retryUntilStopped('indexes', () => openCollections(mongo), service);
  await checkIndexes(service, mongo);
  return { mongo, collections };
}
