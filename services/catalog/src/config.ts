import { baseConfig, configSpec, setUpConfig } from '@brand-data/runtime';

const database = {
  MONGODB_URL: configSpec.mongodbUrl({ desc: 'MongoDB replica set, mongodb://…' }),
  MONGODB_DATABASE: configSpec.str({ default: 'brand_data_catalog', desc: 'Database of this service alone' }),
};

/** The configuration of the `set-up` command, which needs only the database. */
export const setUpSpec = { ...setUpConfig, ...database };

export const config = {
  ...baseConfig,
  ...database,
  GRPC_PORT: configSpec.port({ desc: 'Port of CatalogService, for gateways' }),
  ADMIN_GRPC_PORT: configSpec.port({ desc: 'Port of CatalogAdminService, for operators' }),
  OPERATOR_TOKEN: configSpec.str({ desc: 'Credential that the admin port wants' }),
  NATS_URL: configSpec.natsUrl({ desc: 'NATS servers, comma-separated, nats://…' }),
};
