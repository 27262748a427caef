import { GRPC_SERVICES, OPERATOR_RULES } from '@brand-data/contracts';
import {
  diagnosisService,
  installationOr,
  isSetUp,
  openTransport,
  runService,
  runSetUp,
  signingKeyFromPem,
  startGrpcServer,
} from '@brand-data/runtime';
import { accountsService } from './accounts-service.ts';
import { accountsAdminService } from './admin-service.ts';
import { createAllowanceSigner } from './allowance-signer.ts';
import { followAuditEvents } from './audit-events.ts';
import { serviceSpec, storageSpec } from './config.ts';
import { storedOperators } from './operator.ts';
import { startOutbox } from './outbox.ts';
import { openStorage } from './storage.ts';
import { untilAccountsRestored } from './until-restored.ts';

if (isSetUp(process.argv)) await runSetUp('accounts', storageSpec, openStorage);
else
  await runService('accounts', serviceSpec, async (service, config) => {
    const tokenHashKey = config.TOKEN_HASH_KEY;
    const transport = await openTransport(service, config);
    const adminPort = {
      transport,
      host: config.HOST,
      port: config.ADMIN_GRPC_PORT,
    };
    const { store, nats } = await openStorage(service, config, (mongo) =>
      untilAccountsRestored(service, mongo, adminPort, {
        operatorTokens: config.OPERATOR_TOKEN,
        auditDays: config.AUDIT_DAYS,
      }),
    );
    const signer = createAllowanceSigner(config.ALLOWANCE_SIGNING_KEY);
    service.onSettingChange('ALLOWANCE_SIGNING_KEY', (pem) => signer.replaceKey(signingKeyFromPem(pem)));
    followAuditEvents(service, nats, { store, days: config.AUDIT_DAYS });
    let signingKey = config.PASS_SIGNING_KEY;
    service.onSettingChange('PASS_SIGNING_KEY', (pem) => {
      signingKey = signingKeyFromPem(pem);
    });
    const outbox = startOutbox(service, store, nats);
    await startGrpcServer(service, {
      transport,
      host: config.HOST,
      port: config.GRPC_PORT,
      services: [
        {
          ...GRPC_SERVICES.AccountsService,
          handlers: { ...accountsService(service, store, { tokenHashKey, signer }) },
        },
      ],
    });
    await startGrpcServer(service, {
      ...adminPort,
      services: [
        {
          ...GRPC_SERVICES.AccountsAdminService,
          handlers: {
            ...accountsAdminService(service, store, outbox, {
              tokenHashKey,
              signer,
              signingKey: () => signingKey,
            }),
          },
        },
        { ...GRPC_SERVICES.DiagnosisAdminService, handlers: diagnosisService(service) },
      ],
      operators: {
        ...OPERATOR_RULES,
        authenticate: installationOr(service, config.OPERATOR_TOKEN, storedOperators(store)),
      },
    });
  });
