import {
  baseConfig,
  ConfigError,
  configSpec,
  parseConfig,
  setUpConfig,
  streamConfig,
} from '@brand-data/runtime';

const stateSpec = {
  ...streamConfig,
  MONGODB_URL: configSpec.mongodbUrl({ desc: 'MongoDB replica set, mongodb://…' }),
  MONGODB_DATABASE: configSpec.str({
    default: 'brand_data_accounts',
    desc: 'Database of this service alone',
  }),
  NATS_URL: configSpec.natsUrl({ desc: 'NATS servers, comma-separated, nats://…' }),
};

const setUpSpec = { ...setUpConfig, ...stateSpec };

const spec = {
  ...baseConfig,
  ...stateSpec,
  GRPC_PORT: configSpec.port({ desc: 'Port of AccountsService, for gateways' }),
  ADMIN_GRPC_PORT: configSpec.port({ desc: 'Port of AccountsAdminService, for operators' }),
  OPERATOR_TOKEN: configSpec.str({ desc: 'Credential that the admin port wants' }),
  TOKEN_HASH_KEY: configSpec.str({
    desc: 'Secret that tokens are hashed with; with another one no token is known any more',
  }),
};

/** An empty secret guards nothing, and one that can be guessed little more. */
const SHORTEST_SECRET = 16;

/** The settings of this service. Throws ConfigError with all that is wrong. */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const config = parseConfig(environment, spec);
  const short = (['OPERATOR_TOKEN', 'TOKEN_HASH_KEY'] as const).filter(
    (name) => config[name].length < SHORTEST_SECRET,
  );
  if (short.length > 0)
    throw new ConfigError(
      `wrong settings:\n  ${short.map((name) => `${name}: shorter than ${SHORTEST_SECRET} characters`).join('\n  ')}`,
    );
  return config;
}

/** The settings of `set-up` alone. Throws ConfigError with all that is wrong. */
export function readSetUpConfig(environment: NodeJS.ProcessEnv) {
  return parseConfig(environment, setUpSpec);
}
