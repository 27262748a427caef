import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FETCHED, findTool } from '@brand-data/testing/tools';

export interface Helm {
  major: number;
  path: string;
  /** Tests that need a missing tool are skipped. */
  isThere: boolean;
}

/** One Helm of each major version, the newest first. */
export const helms: readonly Helm[] = findHelms();
/** The newest Helm that is installed. */
export const helm: Helm = helms.find(({ isThere }) => isThere) ?? { major: 0, path: 'helm', isThere: false };
export const kubeconform = findTool('kubeconform');
export const cosign = findTool('cosign');
/** A server of container images and charts. */
export const dockerRegistry = findTool('docker-registry');
/** Folders of JSON schemas by Kubernetes' version. */
export const schemas: readonly { version: string; folder: string }[] = existsSync(join(FETCHED, 'schemas'))
  ? readdirSync(join(FETCHED, 'schemas')).map((version) => ({
      version,
      folder: join(FETCHED, 'schemas', version),
    }))
  : [];

/** The definitions of the Gateway API's kinds, as files of YAML. Empty if they are missing. */
export const gatewayApi: readonly string[] = globSync(join(FETCHED, 'gateway-api/*/*.yaml'));
/** The JSON schema of the Compose Specification, a file. */
export const composeSchema = globSync(join(FETCHED, 'compose-spec/*/compose-spec.json'))[0];

const missing = [
  ...helms.filter(({ isThere }) => !isThere).map(({ major }) => `helm ${major}`),
  ...(kubeconform && schemas.length > 0 ? [] : ['kubeconform with its schemas']),
  ...(composeSchema === undefined ? ["the Compose Specification's schema"] : []),
  ...(gatewayApi.length > 0 ? [] : ["the Gateway API's definitions"]),
];
if (missing.length > 0)
  process.stderr.write(
    `\nSKIPPED: tests of the chart or of compose.yaml that need ${missing.join(', ')}: deploy/chart/test/get-tools fetches what is missing\n`,
  );

const run = promisify(execFile);

export interface Ran {
  isGood: boolean;
  stdout: string;
  stderr: string;
}

/** A busy machine gives kubeconform the ten seconds of a processor that it takes in some minutes. */
export const TOOL_MS = 300_000;

/** Runs a tool to its end and returns its output. */
export async function runTool(path: string, args: readonly string[]): Promise<Ran> {
  try {
    return { isGood: true, ...(await run(path, args, { maxBuffer: 64 * 1024 ** 2, timeout: TOOL_MS })) };
  } catch (error) {
    const { stdout = '', stderr = String(error) } = error as { stdout?: string; stderr?: string };
    return { isGood: false, stdout, stderr };
  }
}

function findHelms(): Helm[] {
  const found = ['helm', 'helm4', 'helm3'].flatMap((name) => {
    const path = findTool(name);
    if (path === undefined) return [];
    const version = execFileSync(path, ['version', '--template', '{{.Version}}'], { encoding: 'utf8' });
    return [{ path, major: Number(/v(\d+)/.exec(version)?.[1]) }];
  });
  return [4, 3].map((major) => {
    const path = found.find((each) => each.major === major)?.path;
    return { major, path: path ?? 'helm', isThere: path !== undefined };
  });
}
