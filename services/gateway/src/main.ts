import {
  AccountsServiceClient,
  CATALOG_CHANGES_SUBJECT,
  CatalogServiceClient,
  MeteringServiceClient,
  usageStream,
} from '@brand-data/contracts';
import {
  connectChannel,
  connectNats,
  parseConfig,
  retryUntilStopped,
  runService,
  systemClock,
  waitForConnection,
} from '@brand-data/runtime';
import { followAccountChanges } from './account-changes.ts';
import { registerCacheMetrics } from './cache-metrics.ts';
import { countCharged } from './charged-calls.ts';
import { config as spec } from './config.ts';
import { closeHttpServer, createHttpServer } from './http-server.ts';
import { connectQuota } from './quota-io.ts';
import { createRecords } from './records.ts';
import { createTokens } from './tokens.ts';
import { countUpstreamFailures, measureLookups } from './upstream-metrics.ts';

const config = () => parseConfig(process.env, spec);

await runService('gateway', config, async (service) => {
  const settings = config();

  const accounts = connectChannel(AccountsServiceClient, settings.ACCOUNTS_TARGET, service);
  const catalog = connectChannel(CatalogServiceClient, settings.CATALOG_TARGET, service);
  const metering = connectChannel(MeteringServiceClient, settings.METERING_TARGET, service);
  service.onStop('gRPC channels', () => {
    for (const client of [accounts, catalog, metering]) client.close();
  });
  const nats = await connectNats(service, settings.NATS_URL);
  for (let number = 1; number <= settings.USAGE_STREAMS; number++) {
    const { name } = usageStream(number);
    await retryUntilStopped(`the stream ${name}`, () => nats.manager.streams.info(name), service);
  }
  await waitForConnection(service, 'accounts', accounts);
  await waitForConnection(service, 'catalog', catalog);
  await waitForConnection(service, 'metering', metering);

  const countFailure = countUpstreamFailures(service);
  const tokens = createTokens(accounts, {
    changes: () => changes,
    clock: systemClock,
    entries: settings.TOKEN_CACHE_ENTRIES,
    failed: () => countFailure('accounts'),
  });
  const changes = await followAccountChanges(service, nats, systemClock, tokens.forget);
  const records = createRecords(catalog, {
    logoHost: settings.LOGO_HOST,
    cacheBytes: settings.RECORD_CACHE_BYTES,
    failed: () => countFailure('catalog'),
    batched: measureLookups(service),
    tracing: service.tracing,
  });
  registerCacheMetrics(service, { tokens: tokens.cacheStats, records: records.cacheStats });
  nats.connection.subscribe(CATALOG_CHANGES_SUBJECT, { callback: () => records.expireAll() });

  const quota = countCharged(service, connectQuota(service, nats, metering, settings.USAGE_STREAMS));

  const http = createHttpServer(
    service,
    { tokens, quota, records, metering, now: Date.now },
    settings.DOCS_URL,
  );
  await http.listen({ host: settings.HOST, port: settings.PORT });
  service.onStop('HTTP server', () => closeHttpServer(http));
});
