import { configSpec, MONGODB_CA, NATS_CA, OPERATOR_TOKEN } from './config.ts';

/** Returns the settings of every service that has a database. */
export function databaseSpec(database: string) {
  return {
    MONGODB_URL: configSpec.mongodbUrl({ desc: 'MongoDB replica set, mongodb://…' }),
    MONGODB_CA,
    MONGODB_DATABASE: configSpec.str({
      default: database,
      desc: 'Name of the database, which only this service uses',
    }),
  };
}

/** The settings of every service that uses NATS. */
export const natsSpec = {
  NATS_URL: configSpec.natsUrl({ desc: 'NATS servers, comma-separated, nats://…' }),
  NATS_CA,
};

/** Returns the settings of every service with an admin port. `name`: as in the names of its gRPC services, "Catalog". */
export function adminPortSpec(name: string) {
  return {
    ADMIN_GRPC_PORT: configSpec.port({ desc: `Port of the gRPC service ${name}AdminService, for operators` }),
    OPERATOR_TOKEN,
  };
}

/** Returns the settings of every service that gateways call. */
export function grpcPortsSpec(name: string) {
  return {
    GRPC_PORT: configSpec.port({ desc: `Port of the gRPC service ${name}Service, for gateways` }),
    ...adminPortSpec(name),
  };
}
