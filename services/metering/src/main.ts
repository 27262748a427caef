import { randomBytes } from 'node:crypto';
import { GRPC_SERVICES } from '@brand-data/contracts';
import {
  auditPublisher,
  installationOrPass,
  runBackend,
  systemClock,
  Trail,
  verifyingKeysFromPem,
} from '@brand-data/runtime';
import { serviceSpec, storageSpec } from './config.ts';
import { Allowances } from './granting/allowances.ts';
import { Metering, meteringEvents } from './granting/metering.ts';
import { publishRecall } from './granting/recalls.ts';
import { sendUsageNews } from './granting/usage-news.ts';
import { LedgerStore, storeEvents } from './ledger/ledger-store.ts';
import { publishNotice } from './notices/cloud-event.ts';
import { createNoticeFinder } from './notices/finder.ts';
import { noticeEvents } from './notices/notice-events.ts';
import { createNoticeSender } from './notices/sender.ts';
import { webhookOf } from './notices/webhook.ts';
import { untilMeteringRestored } from './restoring/until-restored.ts';
import { meteringAdminService } from './rpc/admin-service.ts';
import { meteringService } from './rpc/metering-service.ts';
import { settlerEvents, startSettler, usageBarrier } from './settling/settler.ts';
import { openStorage } from './storage.ts';
import { catchUpWith } from './usage/catch-up.ts';
import { UsageConsumer, usageConsumerEvents } from './usage/usage-consumer.ts';
import { registerUsageGauges } from './usage/usage-gauges.ts';
import { keepRoom, retentionEvents } from './usage/usage-retention.ts';

await runBackend('metering', { storageSpec, openStorage, serviceSpec }, async (service, config, ports) => {
  const clock = systemClock;
  const adminPort = ports.adminPort(installationOrPass(service, config));
  const { database, notices, lists, nats, streams, senders } = await openStorage(service, config, (mongo) =>
    untilMeteringRestored(service, mongo, adminPort),
  );
  const reportNotice = noticeEvents(service, notices);
  const hasWebhook = config.NOTICE_WEBHOOK_URL !== undefined;
  const finder = createNoticeFinder({ store: notices, clock, hasWebhook }, reportNotice);
  const news = sendUsageNews(service, nats);
  const store = new LedgerStore({
    database,
    clock,
    events: storeEvents(service, (before, after) => {
      finder.changed(before, after);
      news.changed(before, after);
    }),
    beforeNewLimit: finder.storeAllOf,
  });
  registerUsageGauges(service, nats, streams);
  const trail = new Trail(service, auditPublisher('metering', nats.publish));

  const retention = keepRoom({ streams, clock }, retentionEvents(service));
  service.onStop('usage retention', () => retention.stop());

  const consumer = new UsageConsumer({ streams, store, clock }, usageConsumerEvents(service));
  service.onStop('usage consumer', () => consumer.stop());
  await consumer.opened;

  const webhook = webhookOf(service, config);
  const sender = createNoticeSender(
    { store: notices, clock, webhook, publish: (notice) => publishNotice(nats, notice) },
    reportNotice,
  );
  for (const running of [finder.run(), sender.run()]) service.onStop('notices', () => running.stop());

  const holder = `metering-${randomBytes(6).toString('hex')}`;
  const barrier = usageBarrier({ streams, clock, holder });
  const settler = startSettler({ store, clock, barrier }, settlerEvents(service));
  service.onStop('settler', () => settler.stop());

  const allowances = new Allowances(config.ALLOWANCE_PUBLIC_KEYS);
  service.onSettingChange('ALLOWANCE_PUBLIC_KEYS', (pem) =>
    allowances.replaceKeys(verifyingKeysFromPem(pem)),
  );
  const metering = new Metering(
    { store, clock, allowances, recall: (recall) => publishRecall(nats, recall) },
    meteringEvents(service),
  );
  const catchUp = catchUpWith({ streams, clock, consumer });
  await ports.serve(
    GRPC_SERVICES.MeteringService,
    meteringService(service, { metering, senders, store, catchUp }),
  );
  await ports.serveOperators(
    adminPort,
    GRPC_SERVICES.MeteringAdminService,
    meteringAdminService(service, {
      store,
      lists,
      catchUp,
      allowances,
      trail,
      notices: { store: notices, webhook },
    }),
  );
});
