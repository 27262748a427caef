import {
  ACCOUNT_CHANGES_STREAM,
  ACCOUNT_CHANGES_SUBJECT,
  AccountsAdminServiceService,
  AccountsServiceService,
} from '@brand-data/contracts';
import {
  connectMongo,
  connectNats,
  ensureStream,
  retryUntilStopped,
  runService,
  startGrpcServer,
} from '@brand-data/runtime';
import { RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { accountsService } from './accounts-service.ts';
import { accountsAdminService } from './admin-service.ts';
import { readConfig } from './config.ts';
import { startOutbox } from './outbox.ts';
import { openStore } from './store.ts';

const MINUTES_NS = 60_000_000_000;

const config = () => readConfig(process.env);

await runService('accounts', config, async (service) => {
  const { HOST, GRPC_PORT, ADMIN_GRPC_PORT, OPERATOR_TOKEN, MONGODB_URL, MONGODB_DATABASE, NATS_URL } =
    config();
  const tokenHashKey = config().TOKEN_HASH_KEY;
  const mongo = await connectMongo(service, MONGODB_URL, MONGODB_DATABASE);
  const store = await retryUntilStopped('indexes', () => openStore(mongo), service);
  const nats = await connectNats(service, NATS_URL);
  await ensureStream(service, nats, {
    name: ACCOUNT_CHANGES_STREAM,
    subjects: [ACCOUNT_CHANGES_SUBJECT],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    max_age: 60 * MINUTES_NS,
    duplicate_window: 2 * MINUTES_NS,
  });
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
});
