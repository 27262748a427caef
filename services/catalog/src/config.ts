import { baseConfig, configSpec } from '@brand-data/runtime';

export const config = {
  ...baseConfig,
  GRPC_PORT: configSpec.port({ desc: 'Port of CatalogService, for gateways' }),
  ADMIN_GRPC_PORT: configSpec.port({ desc: 'Port of CatalogAdminService, for operators' }),
  OPERATOR_TOKEN: configSpec.str({ desc: 'Credential that the admin port wants' }),
  MONGODB_URL: configSpec.url({ desc: 'MongoDB replica set, mongodb://…' }),
  MONGODB_DATABASE: configSpec.str({ default: 'brand_data_catalog', desc: 'Database of this service alone' }),
  NATS_URL: configSpec.str({ desc: 'NATS servers, comma-separated, nats://…' }),
};
