import {
  DEAD_LETTER_STREAM,
  DEAD_LETTER_SUBJECTS,
  MeteringAdminServiceService,
  MeteringServiceService,
} from '@brand-data/contracts';
import {
  connectMongo,
  connectNats,
  ensureStream,
  parseConfig,
  retryUntilStopped,
  runService,
  startGrpcServer,
} from '@brand-data/runtime';
import { meteringAdminService } from './admin-service.ts';
import { config as spec } from './config.ts';
import { connectMetering } from './metering-io.ts';
import { meteringService } from './metering-service.ts';
import { openMongoLedgerStore } from './mongo-ledger-store.ts';
import { consumeUsage } from './usage-consumer.ts';

const HOURS_NS = 3_600_000_000_000;

const config = () => parseConfig(process.env, spec);

await runService('metering', config, async (service) => {
  const settings = config();
  const mongo = await connectMongo(service, settings.MONGODB_URL, settings.MONGODB_DATABASE);
  const store = await retryUntilStopped('indexes', () => openMongoLedgerStore(mongo), service);
  const nats = await connectNats(service, settings.NATS_URL);
  await ensureStream(service, nats, {
    name: DEAD_LETTER_STREAM,
    subjects: [DEAD_LETTER_SUBJECTS],
    max_age: 30 * 24 * HOURS_NS,
    max_bytes: 256 * 1024 ** 2,
  });
  const consumer = await consumeUsage(service, nats, store, {
    streams: settings.USAGE_STREAMS,
    maxBytes: settings.USAGE_STREAM_MAX_BYTES,
  });
  const metering = connectMetering(service, nats, store, settings.USAGE_STREAMS);
  await startGrpcServer(service, {
    host: settings.HOST,
    port: settings.GRPC_PORT,
    services: [
      {
        definition: MeteringServiceService,
        handlers: { ...meteringService(service, { metering, store, consumer }) },
      },
    ],
  });
  await startGrpcServer(service, {
    host: settings.HOST,
    port: settings.ADMIN_GRPC_PORT,
    services: [
      {
        definition: MeteringAdminServiceService,
        handlers: { ...meteringAdminService(service, { store, consumer }) },
      },
    ],
    operatorToken: settings.OPERATOR_TOKEN,
  });
});
