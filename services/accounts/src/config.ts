import {
  configSpec,
  databaseSpec,
  grpcPortsSpec,
  natsSpec,
  streamSpec,
  TRUSTED_PROXIES,
} from '@brand-data/runtime';

/** The settings that `set-up` needs too. */
export const storageSpec = {
  ...streamSpec,
  ...databaseSpec('brand_data_accounts'),
  AUDIT_DAYS: configSpec.days({
    default: 400,
    desc: "Number of days for which the trail of operators' changes is kept",
  }),
  ...natsSpec,
};

export const serviceSpec = {
  ...storageSpec,
  ...grpcPortsSpec('Accounts'),
  ALLOWANCE_SIGNING_KEY: configSpec.signingKey({
    desc: 'Private key with which accounts signs the limits that gateways name to metering: Ed25519, in PEM',
  }),
  PASS_SIGNING_KEY: configSpec.signingKey({
    default: undefined,
    desc: 'Private key with which accounts signs the passes that named operators need at other services: Ed25519, in PEM',
  }),
  /** Those of the gateways, which operators cannot block. */
  TRUSTED_PROXIES,
  TOKEN_HASH_KEY: configSpec.secret({
    desc: "Key with which callers' tokens are hashed; if it changes, all tokens become invalid",
  }),
};
