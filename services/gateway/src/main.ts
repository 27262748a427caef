import v8 from 'node:v8';
import {
  closeHttpServer,
  connectNats,
  runService,
  systemClock,
  waitForConnection,
} from '@brand-data/runtime';
import { readSite } from '@brand-data/site';
import { connectAdmission } from './admission/admission.ts';
import { BlockedAddresses, followBlocks } from './admission/blocked-addresses.ts';
import { measureLateness } from './admission/turns.ts';
import { followAccountChanges } from './auth/account-changes.ts';
import { StreamProgress } from './auth/stream-progress.ts';
import { Tokens } from './auth/tokens.ts';
import { createSearch } from './calls/answer-search.ts';
import { createUsageAnswers } from './calls/answer-usage.ts';
import { docsUrlOf, serviceSpec } from './config.ts';
import { createHttpServer } from './http/server.ts';
import {
  countFullExpiries,
  countUnaskedRefusals,
  countUpstreamFailures,
  measureLookups,
  registerCacheMetrics,
} from './metrics/upstream-metrics.ts';
import { openApiDocument } from './openapi/document.ts';
import { createPages } from './pages/pages.ts';
import { followPlans } from './pages/plans.ts';
import { connectQuota, countCharged, followMetering, waitForUsageStreams } from './quota/connect-quota.ts';
import { createChangeReader, followCatalogChanges } from './records/catalog-changes.ts';
import { Records } from './records/records.ts';
import { connectServices } from './upstream/connect-services.ts';
import { Messages } from './upstream/messages.ts';

// Many calls that wait for metering at the start would make V8 allocate some of their objects with the old ones. Each of these then
// keeps all other objects of its call until the next major collection (test/bench/README.md).
v8.setFlagsFromString('--no-allocation-site-pretenuring');
// A collection of young objects finds little that lives. To share this work among threads costs more than it saves.
v8.setFlagsFromString('--no-parallel-scavenge');

await runService('gateway', serviceSpec, async (service, config) => {
  const docsUrl = docsUrlOf(config);
  const description = openApiDocument({
    docsUrl,
    logoHost: config.LOGO_HOST,
    publicUrl: config.PUBLIC_URL,
    contact: config.CONTACT,
    termsUrl: config.TERMS_URL,
  });
  const { accounts, catalog, metering } = await connectServices(service, config);
  const nats = await connectNats(service, config);
  const messages = new Messages(service, nats);
  const admission = connectAdmission(service, nats, messages);
  await waitForUsageStreams(service, nats, config.USAGE_STREAMS);
  await waitForConnection(service, 'accounts', accounts);
  await waitForConnection(service, 'catalog', catalog);
  await waitForConnection(service, 'metering', metering);

  const countFailure = countUpstreamFailures(service);
  const changes = new StreamProgress(systemClock);
  const tokens = new Tokens(accounts, {
    changes,
    clock: systemClock,
    entries: config.TOKEN_CACHE_ENTRIES,
    onFailure: () => countFailure('accounts'),
  });
  const blocked = new BlockedAddresses(systemClock);
  const [listBlocks, { plans, read: readPlans }] = await Promise.all([
    followBlocks(service, accounts, blocked),
    followPlans(service, accounts),
  ]);
  followAccountChanges(service, nats, changes, messages, {
    onFollow: async () => {
      await Promise.all([listBlocks(), readPlans()]);
    },
    onChange: (change) => {
      if (change.subject?.$case === 'network') return void listBlocks();
      if (change.subject?.$case === 'plan') void readPlans();
      tokens.invalidate(change);
    },
  });

  const shown = { logoHost: config.LOGO_HOST, monogramKey: config.MONOGRAM_KEYS[0] ?? '' };
  const records = new Records(catalog, {
    ...shown,
    cacheBytes: config.RECORD_CACHE_BYTES,
    onFailure: () => countFailure('catalog'),
    onBatch: measureLookups(service),
    tracer: service.tracer,
  });
  followCatalogChanges(service, nats, messages, createChangeReader(records, countFullExpiries(service)));
  registerCacheMetrics(service, {
    tokens: () => tokens.cacheStats(),
    refused_tokens: () => tokens.refusalStats(),
    records: () => records.cacheStats(),
  });
  countUnaskedRefusals(service, () => tokens.refusedUnasked());

  const quota = connectQuota(service, nats, metering, config.USAGE_STREAMS);
  followMetering(messages, quota);

  // Not before: the work of the start makes the event loop late, and the first calls would have to wait for their turns.
  measureLateness(service, admission.turns);

  const parts = {
    tokens,
    ...admission,
    blocked,
    quota,
    records,
    now: Date.now,
    chargedCalls: countCharged(service),
    search: createSearch(catalog, shown),
    usageAnswers: createUsageAnswers(metering, systemClock),
  };
  // Loaded only where it is used, because the SDK of the protocol takes time and memory.
  const mcp = config.MCP === 'on' ? await import('./mcp/answer-mcp.ts') : undefined;
  const http = createHttpServer(
    service,
    {
      ...parts,
      description,
      pages: createPages(readSite(), {
        publicUrl: config.PUBLIC_URL,
        logoHost: config.LOGO_HOST,
        docsUrl,
        description,
        demoToken: config.DEMO_TOKEN,
        statusUrl: config.STATUS_URL,
        plans,
      }),
      answerMcp: mcp && ((request) => mcp.answerMcp({ ...parts, docsUrl, log: service.log }, request)),
    },
    {
      docsUrl,
      trustedProxies: config.TRUSTED_PROXIES,
      accessLog: config.ACCESS_LOG,
    },
  );
  await http.listen({ host: config.HOST, port: config.PORT });
  service.onStop('HTTP server', () => closeHttpServer(http));
});
