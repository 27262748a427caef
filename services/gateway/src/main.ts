import { randomBytes } from 'node:crypto';
import {
  AccountsServiceClient,
  CATALOG_CHANGES_SUBJECT,
  CatalogServiceClient,
  MeteringServiceClient,
  USAGE_STREAM,
} from '@brand-data/contracts';
import {
  connectChannel,
  connectNats,
  parseConfig,
  retryUntilStopped,
  runService,
  waitForConnection,
} from '@brand-data/runtime';
import { followAccountChanges } from './account-changes.ts';
import { systemClock } from './clock.ts';
import { config as spec } from './config.ts';
import { closeHttpServer, createHttpServer } from './http-server.ts';
import { LeaseBook } from './lease-book.ts';
import { startQuota } from './quota.ts';
import { createRecords } from './records.ts';
import { createTokens } from './tokens.ts';
import { createUsageJournal } from './usage-journal.ts';

const config = () => parseConfig(process.env, spec);

await runService('gateway', config, async (service) => {
  const settings = config();
  const holder = randomBytes(12).toString('hex');

  const accounts = connectChannel(AccountsServiceClient, settings.ACCOUNTS_TARGET);
  const catalog = connectChannel(CatalogServiceClient, settings.CATALOG_TARGET);
  const metering = connectChannel(MeteringServiceClient, settings.METERING_TARGET);
  service.onStop('gRPC channels', () => {
    for (const client of [accounts, catalog, metering]) client.close();
  });
  const nats = await connectNats(service, settings.NATS_URL);
  await retryUntilStopped('the usage stream', () => nats.manager.streams.info(USAGE_STREAM), service);
  await waitForConnection(service, 'accounts', accounts);
  await waitForConnection(service, 'catalog', catalog);
  await waitForConnection(service, 'metering', metering);

  const tokens = createTokens(accounts, () => changes, settings.TOKEN_CACHE_ENTRIES);
  const changes = await followAccountChanges(service, nats, tokens.forget);
  const records = createRecords(catalog, {
    logoHost: settings.LOGO_HOST,
    cacheBytes: settings.RECORD_CACHE_BYTES,
  });
  nats.connection.subscribe(CATALOG_CHANGES_SUBJECT, { callback: () => records.expireAll() });

  const book = new LeaseBook();
  const journal = createUsageJournal(service, { nats, metering, holder }, (closed) => book.forget(closed));
  const quota = startQuota(service, { book, journal, metering, clock: systemClock, holder });

  const http = createHttpServer(
    service,
    { tokens, quota, records, metering, now: Date.now },
    settings.DOCS_URL,
  );
  await http.listen({ host: settings.HOST, port: settings.PORT });
  service.onStop('HTTP server', () => closeHttpServer(http));
});
