import { GRPC_SERVICES } from '@brand-data/contracts';
import { installationOr, runBackend, signingKeyFromPem } from '@brand-data/runtime';
import { serviceSpec, storageSpec } from './config.ts';
import { storedOperators } from './model/operator.ts';
import { untilAccountsRestored } from './restoring/until-restored.ts';
import { accountsService } from './rpc/accounts-service.ts';
import { accountsAdminService } from './rpc/admin-service.ts';
import { AllowanceSigner } from './rpc/allowance-signer.ts';
import { Outbox } from './storage/outbox.ts';
import { openStorage } from './storage.ts';
import { followAuditEvents } from './trail/audit-events.ts';
import { showNewestBackup } from './trail/backup-gauge.ts';

await runBackend('accounts', { storageSpec, openStorage, serviceSpec }, async (service, config, ports) => {
  const { store, nats } = await openStorage(service, config, (mongo) =>
    untilAccountsRestored(service, mongo, ports, config),
  );
  const signer = new AllowanceSigner(config.ALLOWANCE_SIGNING_KEY);
  service.onSettingChange('ALLOWANCE_SIGNING_KEY', (pem) => signer.replaceKey(signingKeyFromPem(pem)));
  followAuditEvents(service, nats, { store: store.trail, days: config.AUDIT_DAYS });
  showNewestBackup(service, { newestBackup: () => store.trail.newestBackup() });
  let signingKey = config.PASS_SIGNING_KEY;
  service.onSettingChange('PASS_SIGNING_KEY', (pem) => {
    signingKey = signingKeyFromPem(pem);
  });
  const outbox = Outbox.start(service, store.database, nats);
  const tokenHashKey = config.TOKEN_HASH_KEY;
  await ports.serve(GRPC_SERVICES.AccountsService, accountsService(service, store, { tokenHashKey, signer }));
  await ports.serveOperators(
    ports.adminPort(installationOr(service, config.OPERATOR_TOKEN, storedOperators(store.operators))),
    GRPC_SERVICES.AccountsAdminService,
    accountsAdminService(service, {
      store,
      outbox,
      tokenHashKey,
      signer,
      signingKey: () => signingKey,
      trustedProxies: config.TRUSTED_PROXIES,
    }),
  );
});
