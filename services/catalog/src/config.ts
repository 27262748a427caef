import {
  configSpec,
  MONGODB_CA,
  NATS_CA,
  OPERATOR_TOKEN,
  PASS_PUBLIC_KEYS,
  transportSpec,
} from '@brand-data/runtime';

/** The settings that both the service and `set-up` read. */
export const databaseSpec = {
  MONGODB_URL: configSpec.mongodbUrl({ desc: 'MongoDB replica set, mongodb://…' }),
  MONGODB_CA,
  MONGODB_DATABASE: configSpec.str({
    default: 'brand_data_catalog',
    desc: 'Name of the database, which only this service uses',
  }),
};

export const serviceSpec = {
  ...databaseSpec,
  ...transportSpec,
  GRPC_PORT: configSpec.port({ desc: 'Port of the gRPC service CatalogService, for gateways' }),
  ADMIN_GRPC_PORT: configSpec.port({ desc: 'Port of the gRPC service CatalogAdminService, for operators' }),
  OPERATOR_TOKEN,
  PASS_PUBLIC_KEYS,
  NATS_URL: configSpec.natsUrl({ desc: 'NATS servers, comma-separated, nats://…' }),
  NATS_CA,
};
