import { COMPILED_CODE } from './compiled-code.ts';
import { baseEnvironment, Child, type SharedOptions } from './process.ts';

export interface ServiceOptions extends SharedOptions {
  /** The service's main file. A function is called at each start. */
  main: string | (() => string);
  /** More options of Node, such as `--watch`. */
  nodeOptions?: readonly string[] | undefined;
  /** The port on which the service answers /readyz. */
  opsPort: number;
  /** The service's settings, in addition to the addresses that it listens on. */
  environment: Readonly<Record<string, string | number | undefined>>;
}

/**
 * As in the images (deploy/images/Dockerfile). Otherwise V8 would choose the size for young objects by the machine's memory: 32 MiB
 * here, and in a small container so little that collections take a third of the gateway's time.
 */
export const V8_OPTIONS = ['--max-semi-space-size=16'];

/** Makes a process for one of the services, on 127.0.0.1, without starting it. Its start resolves when the service is ready. */
export function serviceProcess(options: ServiceOptions): Child {
  const { main, nodeOptions = [], opsPort } = options;
  const settings = {
    HOST: '127.0.0.1',
    OPS_PORT: opsPort,
    NODE_COMPILE_CACHE: COMPILED_CODE,
    ...options.environment,
  };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return new Child({
    ...options,
    command: process.execPath,
    args: () => [...V8_OPTIONS, ...nodeOptions, typeof main === 'function' ? main() : main],
    env: { ...baseEnvironment(), ...Object.fromEntries(given.map(([key, value]) => [key, String(value)])) },
    ready: () => isReady(opsPort),
    readyWithinMs: 60_000,
    stopWithinMs: 15_000,
  });
}

function isReady(opsPort: number): Promise<boolean> {
  const url = `http://127.0.0.1:${opsPort}/readyz`;
  return fetch(url, { signal: AbortSignal.timeout(1_500) }).then(
    ({ ok }) => ok,
    () => false,
  );
}
