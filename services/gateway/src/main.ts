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
  retryUntilStopped,
  runService,
  systemClock,
  waitForConnection,
} from '@brand-data/runtime';
import { followAccountChanges } from './auth/account-changes.ts';
import { createTokens } from './auth/tokens.ts';
import { serviceSpec } from './config.ts';
import { closeHttpServer, createHttpServer } from './http/server.ts';
import { registerCacheMetrics } from './metrics/cache-metrics.ts';
import { countUpstreamFailures, measureLookups } from './metrics/upstream-metrics.ts';
import { countCharged } from './quota/charged-calls.ts';
import { connectQuota } from './quota/connect-quota.ts';
import { createRecords } from './records/records.ts';

await runService('gateway', serviceSpec, async (service, config) => {
  const accounts = connectChannel(AccountsServiceClient, config.ACCOUNTS_TARGET, service, {
    isIdempotent: true,
  });
  const catalog = connectChannel(CatalogServiceClient, config.CATALOG_TARGET, service, {
    isIdempotent: true,
  });
  const metering = connectChannel(MeteringServiceClient, config.METERING_TARGET, service);
  service.onStop('gRPC channels', () => {
    for (const client of [accounts, catalog, metering]) client.close();
  });
  const nats = await connectNats(service, config.NATS_URL);
  for (let number = 1; number <= config.USAGE_STREAMS; number++) {
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
    entries: config.TOKEN_CACHE_ENTRIES,
    failed: () => countFailure('accounts'),
  });
  const changes = await followAccountChanges(service, nats, systemClock, tokens.forget);
  const records = createRecords(catalog, {
    logoHost: config.LOGO_HOST,
    cacheBytes: config.RECORD_CACHE_BYTES,
    failed: () => countFailure('catalog'),
    batched: measureLookups(service),
    tracing: service.tracing,
  });
  registerCacheMetrics(service, { tokens: tokens.cacheStats, records: records.cacheStats });
  nats.connection.subscribe(CATALOG_CHANGES_SUBJECT, { callback: () => records.expireAll() });

  const quota = countCharged(service, connectQuota(service, nats, metering, config.USAGE_STREAMS));

  const http = createHttpServer(
    service,
    { tokens, quota, records, metering, now: Date.now },
    config.DOCS_URL,
  );
  await http.listen({ host: config.HOST, port: config.PORT });
  service.onStop('HTTP server', () => closeHttpServer(http));
});
