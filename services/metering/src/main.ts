import { MeteringAdminServiceService, MeteringServiceService } from '@brand-data/contracts';
import {
  isSetUp,
  parseConfig,
  runService,
  runSetUp,
  type Service,
  startGrpcServer,
} from '@brand-data/runtime';
import { meteringAdminService } from './admin-service.ts';
import { setUpSpec, config as spec } from './config.ts';
import { connectMetering } from './metering-io.ts';
import { meteringService } from './metering-service.ts';
import { openState } from './state.ts';
import { consumeUsage } from './usage-io.ts';

const config = () => parseConfig(process.env, spec);

if (isSetUp(process.argv)) await runSetUp('metering', () => parseConfig(process.env, setUpSpec), openState);
else await runService('metering', config, serve);

async function serve(service: Service): Promise<void> {
  const settings = config();
  const { store, nats, streams } = await openState(service, settings);
  const consumer = await consumeUsage(service, nats, { store, streams });
  const metering = connectMetering(service, nats, { store, streams });
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
}
