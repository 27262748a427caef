import {
  ADMIN_PORT,
  type DiagnosisAdminServiceServer,
  FindingState,
  GRPC_SERVICES,
} from '@brand-data/contracts';
import { VERSION } from '../base/version.ts';
import type { baseSpec, ConfigOf, ConfigSpec, grpcPortsSpec } from '../config/config.ts';
import type { CallableService } from '../grpc/callers.ts';
import { type Operators, operatorCallOf } from '../grpc/operator.ts';
import { type GrpcServer, startGrpcServer, unary } from '../grpc/server.ts';
import { openTransport } from '../grpc/transport.ts';
import { runService, runSetUp } from '../service/run-service.ts';
import type { Service } from '../service/service.ts';

type PortsConfig = ConfigOf<typeof baseSpec & ReturnType<typeof grpcPortsSpec>>;

/** The gRPC ports of a backend service: one for gateways, which images does not have, and one for operators. */
export type BackendPorts = Awaited<ReturnType<typeof preparePorts>>;

/**
 * Runs a backend service: one with a database and an admin port. `node main.js set-up` only opens its storage, which creates the
 * database and the streams or brings them up to date.
 */
export async function runBackend<StorageSpec extends ConfigSpec, ServiceSpec extends ConfigSpec>(
  name: string,
  backend: {
    /** The settings that `openStorage` needs. */
    storageSpec: StorageSpec;
    openStorage: (service: Service, config: ConfigOf<StorageSpec>) => Promise<unknown>;
    serviceSpec: ServiceSpec;
  },
  start: (
    service: Service,
    config: ConfigOf<typeof baseSpec & ServiceSpec>,
    ports: BackendPorts,
  ) => Promise<void>,
): Promise<void> {
  const { storageSpec, openStorage, serviceSpec } = backend;
  if (process.argv[2] === 'set-up') return runSetUp(name, storageSpec, openStorage);
  return runService(name, serviceSpec, async (service, config) => {
    // TypeScript does not see that a mapped type over an intersection has the members of its parts.
    const ports = await preparePorts(service, config as PortsConfig);
    await start(service, config, ports);
  });
}

/** Waits for the service's certificates. Opens no port. */
async function preparePorts(service: Service, config: PortsConfig) {
  const transport = await openTransport(service, config);
  const { HOST: host, GRPC_PORT, ADMIN_GRPC_PORT } = config;
  return {
    /** Opens the port for gateways. */
    serve(rpcs: CallableService, handlers: object): Promise<void> {
      const services = [{ ...rpcs, handlers: { ...handlers } }];
      return startGrpcServer(service, { transport, host, port: GRPC_PORT, services });
    },

    /** Describes the port for operators, without opening it. */
    adminPort: (authenticate: Operators['authenticate']): Omit<GrpcServer, 'services'> => ({
      transport,
      host,
      port: ADMIN_GRPC_PORT,
      operators: { ...ADMIN_PORT, authenticate },
    }),

    /** Opens the port for operators. */
    serveOperators(
      adminPort: Omit<GrpcServer, 'services'>,
      rpcs: CallableService,
      handlers: object,
    ): Promise<void> {
      const services = [
        { ...rpcs, handlers: { ...handlers } },
        { ...GRPC_SERVICES.DiagnosisAdminService, handlers: { ...diagnosisService(service) } },
      ];
      return startGrpcServer(service, { ...adminPort, services });
    },
  };
}

const STATE = { ok: FindingState.OK, warning: FindingState.WARNING, wrong: FindingState.WRONG };

/** Returns the handlers of DiagnosisAdminService. */
function diagnosisService(service: Service): DiagnosisAdminServiceServer {
  const { version = VERSION, revision = '' } = service.build ?? {};
  return {
    diagnose: unary(service, async (_request, metadata) => {
      const { name, role } = operatorCallOf(metadata).operator;
      const findings = await (service.diagnosis?.run() ?? []);
      return {
        version,
        revision,
        nowMs: Date.now(),
        operator: name,
        role,
        findings: findings.map(({ what, found }) => {
          const advice = found.state === 'ok' ? '' : found.advice;
          return { what, state: STATE[found.state], detail: found.detail, advice };
        }),
      };
    }),
  };
}
