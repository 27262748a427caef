import { type CleanedEnvAccessors, cleanEnv, host, num, port, str, url, type ValidatorSpec } from 'envalid';

/** Wrong settings: the message lists all of them, a line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The kinds of settings. */
export const configSpec = { host, num, port, str, url };

/** What every service is told. */
export const baseConfig = {
  LOG_LEVEL: str({
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
    default: 'info',
    desc: 'Least severe log line to write',
  }),
  HOST: host({ default: '0.0.0.0', desc: 'Address that every port of the service listens on' }),
  OPS_PORT: port({ desc: 'HTTP port of /livez, /readyz and /metrics' }),
  DRAIN_MS: num({
    default: 0,
    desc: 'Time to go on serving after SIGTERM while endpoints spread, milliseconds',
  }),
};

export type ConfigOf<Spec> = {
  readonly [K in keyof Spec]: Spec[K] extends ValidatorSpec<infer T> ? T : never;
};

/** Reads a service's settings from an environment, once. Throws ConfigError with all that is wrong. */
export function parseConfig<Spec extends Record<string, ValidatorSpec<unknown>>>(
  environment: NodeJS.ProcessEnv,
  spec: Spec,
): ConfigOf<Spec> {
  const cleaned = cleanEnv(environment, spec, {
    reporter: ({ errors }) => {
      const problems = Object.entries(errors).map(
        ([name, error]) => `${name}: ${error?.message || 'not set'} (${spec[name]?.desc ?? 'required'})`,
      );
      if (problems.length > 0) throw new ConfigError(`wrong settings:\n  ${problems.join('\n  ')}`);
    },
  }) as Record<string, unknown> & CleanedEnvAccessors;
  return Object.freeze(
    Object.fromEntries(Object.keys(spec).map((name) => [name, cleaned[name]])),
  ) as ConfigOf<Spec>;
}
