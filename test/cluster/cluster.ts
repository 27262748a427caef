import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SERVICES } from '@brand-data/contracts';
import { helm as found } from '../../deploy/chart/test/tools.ts';

const run = promisify(execFile);

export const CHART = fileURLToPath(new URL('../../deploy/chart', import.meta.url));
/** Images that the cluster's nodes have or can pull: `<repository>/gateway:<tag>`, and the same under a second tag. */
export const CLUSTER_IMAGES = {
  repository: process.env.IMAGE_REPOSITORY ?? 'brand-data',
  tag: process.env.IMAGE_TAG ?? 'test',
  nextTag: process.env.NEXT_IMAGE_TAG ?? 'test-next',
};
/** A checkout of the version before, from which an upgrade starts, and the tag of its images. Undefined if none is given. */
export const PREVIOUS =
  process.env.PREVIOUS === undefined
    ? undefined
    : {
        chart: `${process.env.PREVIOUS}/deploy/chart`,
        tag: process.env.PREVIOUS_IMAGE_TAG ?? 'test-previous',
      };

/** The namespace of a release. It admits only pods of the restricted Pod Security profile. */
export interface Namespace {
  name: string;
  kubectl(...args: string[]): Promise<string>;
  /** Runs kubectl with this standard input. */
  apply(manifest: string): Promise<string>;
  /** Posts to a path of the cluster's API for which kubectl has no command. */
  create(path: string, object: string): Promise<string>;
  helm(...args: string[]): Promise<string>;
  /** Runs `bds --json` in the release's bds pod. */
  bds(...args: string[]): Promise<unknown>;
  /** Pods that are ready and not being deleted. */
  readyPods(component: string): Promise<string[]>;
  delete(): Promise<void>;
}

export const RELEASE = 'brand-data';

export async function createNamespace(purpose: string): Promise<Namespace> {
  const name = `brand-data-${purpose}-${randomBytes(3).toString('hex')}`;
  await tool('kubectl', ['create', 'namespace', name]);
  const remove = () => tool('kubectl', ['delete', 'namespace', name, '--timeout', '5m']);
  await tool('kubectl', ['label', 'namespace', name, 'pod-security.kubernetes.io/enforce=restricted']).catch(
    async (error) => {
      await remove();
      throw error;
    },
  );
  const kubectl: Namespace['kubectl'] = (...args) => tool('kubectl', ['--namespace', name, ...args]);
  return {
    name,
    kubectl,
    apply: (manifest) => tool('kubectl', ['--namespace', name, 'apply', '--filename', '-'], manifest),
    create: (path, object) => tool('kubectl', ['create', '--raw', path, '--filename', '-'], object),
    helm: (...args) => tool(found.path, [...args, '--namespace', name]),
    async bds(...args) {
      return JSON.parse(await kubectl('exec', `deploy/${RELEASE}-bds`, '--', 'bds', '--json', ...args));
    },
    async readyPods(component) {
      const pods = JSON.parse(
        await kubectl(
          'get',
          'pods',
          '--output',
          'json',
          '--selector',
          `app.kubernetes.io/component=${component}`,
        ),
      ) as { items: Pod[] };
      return pods.items
        .filter(
          ({ metadata, status }) =>
            metadata.deletionTimestamp === undefined &&
            status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
        )
        .map(({ metadata }) => metadata.name);
    },
    async delete() {
      await remove();
    },
  };
}

interface Pod {
  metadata: { name: string; deletionTimestamp?: string };
  status: { conditions?: { type: string; status: string }[] };
}

/** Values with this run's images, and with resource requests so small that two releases fit on a small node. */
export function valuesOf(tag = CLUSTER_IMAGES.tag): string[] {
  const values = [
    ...SERVICES.map((service) => `${service}.resources.requests.cpu=25m`),
    'images.workers=1',
    'images.resources.requests.memory=192Mi',
  ];
  return [...imageValues(tag), ...values.flatMap((value) => ['--set', value])];
}

/** Values that every version of the chart has. */
function imageValues(tag: string): string[] {
  const values = [
    `image.repository=${CLUSTER_IMAGES.repository}`,
    `image.tag=${tag}`,
    ...['mongodb', 'nats'].map((server) => `quickstart.${server}.resources.requests.cpu=25m`),
  ];
  return values.flatMap((value) => ['--set', value]);
}

/** Installs the quickstart and waits until it is ready. Returns how long that took. */
export async function installQuickstart(namespace: Namespace, ...more: string[]): Promise<number> {
  return install(namespace, CHART, ...valuesOf(), ...more);
}

/** Installs the quickstart of the version before. */
export async function installPreviousQuickstart(
  namespace: Namespace,
  { chart, tag }: { chart: string; tag: string },
): Promise<void> {
  await install(namespace, chart, ...imageValues(tag));
}

async function install(namespace: Namespace, chart: string, ...values: string[]): Promise<number> {
  const began = performance.now();
  await namespace.helm(
    'install',
    RELEASE,
    chart,
    '--wait',
    '--timeout',
    '10m',
    '--set',
    'quickstart.enabled=true',
    ...values,
  );
  return performance.now() - began;
}

/** Waits until `isSo` returns a truthy value. When it gives up, its error names the condition. */
export async function waitFor<T>(
  what: string,
  isSo: () => Promise<T | undefined | false>,
  withinMs = 120_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await isSo();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await delay(500);
  }
}

/** Runs a program and returns its standard output. If it fails, throws its standard error. */
async function tool(path: string, args: readonly string[], input = ''): Promise<string> {
  const running = run(path, args, { maxBuffer: 64 * 1024 ** 2, timeout: 12 * 60_000 });
  running.child.stdin?.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string };
    // The error does not contain the command line. Otherwise a test that looks for a name in the error would find its own
    // argument.
    throw new Error(`${path.split('/').at(-1)} ${args[0]}: ${stderr}${stdout}`);
  }
}
