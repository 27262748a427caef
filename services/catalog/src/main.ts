import { GRPC_SERVICES } from '@brand-data/contracts';
import {
  auditPublisher,
  type ConfigOf,
  connectNats,
  installationOrPass,
  type Mongo,
  openDatabase,
  runBackend,
  type Service,
  systemClock,
  Trail,
} from '@brand-data/runtime';
import { serviceSpec, storageSpec } from './config.ts';
import { candidateFinder } from './lookup/answers.ts';
import { searcher } from './lookup/search.ts';
import { LookUpsFirst } from './lookup/search-turns.ts';
import { similarFinder, suggester } from './lookup/suggestions.ts';
import { catalogAdminService, catalogService } from './rpc/catalog-service.ts';
import { Announcer } from './storage/announcer.ts';
import { openCollections } from './storage/collections.ts';
import { startFreshness } from './storage/freshness.ts';
import { ImportRuns } from './storage/import-runs.ts';
import { restorer } from './storage/restore.ts';
import { CatalogStore } from './storage/store.ts';

await runBackend('catalog', { storageSpec, openStorage, serviceSpec }, async (service, config, ports) => {
  const { mongo, collections } = await openStorage(service, config);
  const findCandidates = candidateFinder(collections.companies);
  const suggest = suggester(service, {
    findSimilar: similarFinder(collections.companies),
    findCandidates,
  });
  const nats = await connectNats(service, config);
  const trail = new Trail(service, auditPublisher('catalog', nats.publish));
  const announcer = new Announcer(service, nats);
  const store = new CatalogStore(mongo, collections, announcer.announce);
  const runs = new ImportRuns(collections);
  const measureAges = startFreshness(service, collections);
  const restore = restorer(collections, announcer.announce);
  const lookUps = new LookUpsFirst(systemClock);
  await ports.serve(
    GRPC_SERVICES.CatalogService,
    catalogService(service, {
      findCandidates,
      suggest,
      search: searcher(collections.companies, findCandidates, { giveWay: () => lookUps.giveWay() }),
      lookUps,
    }),
  );
  await ports.serveOperators(
    ports.adminPort(installationOrPass(service, config)),
    GRPC_SERVICES.CatalogAdminService,
    catalogAdminService({
      service,
      findCandidates,
      suggest,
      store,
      runs,
      restore,
      measureAges,
      announcer,
      trail,
    }),
  );
});

function openStorage(service: Service, config: ConfigOf<typeof storageSpec>) {
  const open = async (mongo: Mongo) => ({ mongo, collections: await openCollections(mongo) });
  return openDatabase(service, config, open, { hasTransactions: true });
}
