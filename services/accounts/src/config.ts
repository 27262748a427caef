import { configSpec, OPERATOR_TOKEN, streamSpec } from '@brand-data/runtime';

/** The settings that `set-up` needs too. */
export const storageSpec = {
  ...streamSpec,
  MONGODB_URL: configSpec.mongodbUrl({ desc: 'MongoDB replica set, mongodb://…' }),
  MONGODB_DATABASE: configSpec.str({
    default: 'brand_data_accounts',
    desc: 'Database of this service alone',
  }),
  NATS_URL: configSpec.natsUrl({ desc: 'NATS servers, comma-separated, nats://…' }),
};

export const serviceSpec = {
  ...storageSpec,
  GRPC_PORT: configSpec.port({ desc: 'Port of AccountsService, for gateways' }),
  ADMIN_GRPC_PORT: configSpec.port({ desc: 'Port of AccountsAdminService, for operators' }),
  OPERATOR_TOKEN,
  TOKEN_HASH_KEY: configSpec.secret({
    desc: "Key that callers' tokens are hashed with; with another key no token is known any more",
  }),
};
