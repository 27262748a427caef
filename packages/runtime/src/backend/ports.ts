import type { baseSpec, ConfigOf } from '../config/config.ts';
import type { grpcPortsSpec } from '../config/shared-specs.ts';
import type { CallableService } from '../grpc/callers.ts';
import type { Operators } from '../grpc/operator.ts';
import { type GrpcServer, startGrpcServer } from '../grpc/server.ts';
import { openTransport, type Transport, type transportSpec } from '../grpc/transport.ts';
import { diagnosisService } from '../operators/diagnosis-service.ts';
import type { Service } from '../service/service.ts';

/** The contract of every admin port: which role each method needs, and the service that `bds doctor` calls. */
export interface AdminPortContract extends Omit<Operators, 'authenticate'> {
  diagnosis: CallableService;
}

export type PortsConfig = ConfigOf<typeof baseSpec & typeof transportSpec & ReturnType<typeof grpcPortsSpec>>;

/** The gRPC ports of a backend service: one for gateways, which images does not have, and one for operators. */
export class BackendPorts {
  readonly #service: Service;
  readonly #config: PortsConfig;
  readonly #transport: Transport;
  readonly #contract: AdminPortContract;

  private constructor(
    service: Service,
    config: PortsConfig,
    transport: Transport,
    contract: AdminPortContract,
  ) {
    this.#service = service;
    this.#config = config;
    this.#transport = transport;
    this.#contract = contract;
  }

  /** Waits for the service's certificates. Opens no port. */
  static async prepare(
    service: Service,
    config: PortsConfig,
    contract: AdminPortContract,
  ): Promise<BackendPorts> {
    return new BackendPorts(service, config, await openTransport(service, config), contract);
  }

  /** Opens the port for gateways. */
  serve(rpcs: CallableService, handlers: object): Promise<void> {
    return startGrpcServer(this.#service, {
      transport: this.#transport,
      host: this.#config.HOST,
      port: this.#config.GRPC_PORT,
      services: [{ ...rpcs, handlers: { ...handlers } }],
    });
  }

  /** Describes the port for operators, without opening it. */
  adminPort(authenticate: Operators['authenticate']): Omit<GrpcServer, 'services'> {
    const { roleNeeded, mayCall } = this.#contract;
    return {
      transport: this.#transport,
      host: this.#config.HOST,
      port: this.#config.ADMIN_GRPC_PORT,
      operators: { roleNeeded, mayCall, authenticate },
    };
  }

  /** Opens the port for operators. */
  serveOperators(
    adminPort: Omit<GrpcServer, 'services'>,
    rpcs: CallableService,
    handlers: object,
  ): Promise<void> {
    return startGrpcServer(this.#service, {
      ...adminPort,
      services: [
        { ...rpcs, handlers: { ...handlers } },
        { ...this.#contract.diagnosis, handlers: diagnosisService(this.#service) },
      ],
    });
  }
}
