import { MeteringAdminServiceService, MeteringServiceService } from '@brand-data/contracts';
import { isSetUp, runService, runSetUp, startGrpcServer } from '@brand-data/runtime';
import { meteringAdminService } from './admin-service.ts';
import { serviceSpec, storageSpec } from './config.ts';
import { connectMetering } from './granting/metering-io.ts';
import { meteringService } from './metering-service.ts';
import { openState } from './storage.ts';
import { consumeUsage } from './usage/usage-io.ts';

if (isSetUp(process.argv)) await runSetUp('metering', storageSpec, openState);
else
  await runService('metering', serviceSpec, async (service, config) => {
    const { store, nats, streams } = await openState(service, config);
    const consumer = await consumeUsage(service, nats, { store, streams });
    const metering = connectMetering(service, nats, { store, streams });
    await startGrpcServer(service, {
      host: config.HOST,
      port: config.GRPC_PORT,
      services: [
        {
          definition: MeteringServiceService,
          handlers: { ...meteringService(service, { metering, store, consumer }) },
        },
      ],
    });
    await startGrpcServer(service, {
      host: config.HOST,
      port: config.ADMIN_GRPC_PORT,
      services: [
        {
          definition: MeteringAdminServiceService,
          handlers: { ...meteringAdminService(service, { store, consumer }) },
        },
      ],
      operatorToken: config.OPERATOR_TOKEN,
    });
  });
