import {
  configSpec,
  MONGODB_CA,
  NATS_CA,
  OPERATOR_TOKEN,
  streamSpec,
  transportSpec,
} from '@brand-data/runtime';

/** The settings that `set-up` needs too. */
export const storageSpec = {
  ...streamSpec,
  MONGODB_URL: configSpec.mongodbUrl({ desc: 'MongoDB replica set, mongodb://…' }),
  MONGODB_CA,
  MONGODB_DATABASE: configSpec.str({
    default: 'brand_data_accounts',
    desc: 'Name of the database, which only this service uses',
  }),
  AUDIT_DAYS: configSpec.days({
    default: 400,
    desc: "Number of days for which the trail of operators' changes is kept",
  }),
  NATS_URL: configSpec.natsUrl({ desc: 'NATS servers, comma-separated, nats://…' }),
  NATS_CA,
};

export const serviceSpec = {
  ...storageSpec,
  ...transportSpec,
  GRPC_PORT: configSpec.port({ desc: 'Port of the gRPC service AccountsService, for gateways' }),
  ADMIN_GRPC_PORT: configSpec.port({ desc: 'Port of the gRPC service AccountsAdminService, for operators' }),
  OPERATOR_TOKEN,
  ALLOWANCE_SIGNING_KEY: configSpec.signingKey({
    desc: 'Private key with which accounts signs the limits that gateways name to metering: Ed25519, in PEM',
  }),
  PASS_SIGNING_KEY: configSpec.signingKey({
    default: undefined,
    desc: 'Private key with which accounts signs the passes that named operators need at other services: Ed25519, in PEM',
  }),
  TOKEN_HASH_KEY: configSpec.secret({
    desc: "Key with which callers' tokens are hashed; if it changes, all tokens become invalid",
  }),
};
