import { AccountsAdminServiceService, AccountsServiceService } from '@brand-data/contracts';
import { isSetUp, runService, runSetUp, type Service, startGrpcServer } from '@brand-data/runtime';
import { accountsService } from './accounts-service.ts';
import { accountsAdminService } from './admin-service.ts';
import { readConfig, readSetUpConfig } from './config.ts';
import { startOutbox } from './outbox.ts';
import { openState } from './storage.ts';

const config = () => readConfig(process.env);

if (isSetUp(process.argv)) await runSetUp('accounts', () => readSetUpConfig(process.env), openState);
else await runService('accounts', config, serve);

async function serve(service: Service): Promise<void> {
  const settings = config();
  const { HOST, GRPC_PORT, ADMIN_GRPC_PORT, OPERATOR_TOKEN, TOKEN_HASH_KEY: tokenHashKey } = settings;
  const { store, nats } = await openState(service, settings);
  const outbox = startOutbox(service, store, nats);
  await startGrpcServer(service, {
    host: HOST,
    port: GRPC_PORT,
    services: [
      {
        definition: AccountsServiceService,
        handlers: { ...accountsService(service, store, { tokenHashKey }) },
      },
    ],
  });
  await startGrpcServer(service, {
    host: HOST,
    port: ADMIN_GRPC_PORT,
    services: [
      {
        definition: AccountsAdminServiceService,
        handlers: { ...accountsAdminService(service, store, outbox, { tokenHashKey }) },
      },
    ],
    operatorToken: OPERATOR_TOKEN,
  });
}
