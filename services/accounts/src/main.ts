import { ADMIN_PORT, GRPC_SERVICES } from '@brand-data/contracts';
import { installationOr, runBackend, signingKeyFromPem } from '@brand-data/runtime';
import { accountsService } from './accounts-service.ts';
import { accountsAdminService } from './admin-service.ts';
import { createAllowanceSigner } from './allowance-signer.ts';
import { followAuditEvents } from './audit-events.ts';
import { serviceSpec, storageSpec } from './config.ts';
import { storedOperators } from './operator.ts';
import { startOutbox } from './outbox.ts';
import { openStorage } from './storage.ts';
import { untilAccountsRestored } from './until-restored.ts';

const backend = { storageSpec, openStorage, serviceSpec, adminPort: ADMIN_PORT };
await runBackend('accounts', backend, async (service, config, ports) => {
  const { store, nats } = await openStorage(service, config, (mongo) =>
    untilAccountsRestored(service, mongo, ports, config),
  );
  const signer = createAllowanceSigner(config.ALLOWANCE_SIGNING_KEY);
  service.onSettingChange('ALLOWANCE_SIGNING_KEY', (pem) => signer.replaceKey(signingKeyFromPem(pem)));
  followAuditEvents(service, nats, { store, days: config.AUDIT_DAYS });
  let signingKey = config.PASS_SIGNING_KEY;
  service.onSettingChange('PASS_SIGNING_KEY', (pem) => {
    signingKey = signingKeyFromPem(pem);
  });
  const outbox = startOutbox(service, store, nats);
  const tokenHashKey = config.TOKEN_HASH_KEY;
  await ports.serve(GRPC_SERVICES.AccountsService, accountsService(service, store, { tokenHashKey, signer }));
  await ports.serveOperators(
    ports.adminPort(installationOr(service, config.OPERATOR_TOKEN, storedOperators(store))),
    GRPC_SERVICES.AccountsAdminService,
    accountsAdminService(service, store, outbox, { tokenHashKey, signer, signingKey: () => signingKey }),
  );
});
