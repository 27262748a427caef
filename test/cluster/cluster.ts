import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SERVICES } from '@brand-data/contracts';
import { until } from '@brand-data/testing/until';
import { parse } from 'yaml';
import { helm as found } from '../../deploy/chart/test/tools.ts';

const run = promisify(execFile);

export const CHART = fileURLToPath(new URL('../../deploy/chart', import.meta.url));
/** Images that the cluster's nodes have or can pull: `<repository>/gateway:<tag>`, and the same under a second tag. */
export const CLUSTER_IMAGES = {
  repository: process.env.IMAGE_REPOSITORY ?? 'brand-data',
  tag: process.env.IMAGE_TAG ?? 'test',
  nextTag: process.env.NEXT_IMAGE_TAG ?? 'test-next',
};
/** A checkout of the previous version, from which an upgrade starts, and the tag of its images. Undefined if none is given. */
export const PREVIOUS =
  process.env.PREVIOUS === undefined
    ? undefined
    : {
        chart: `${process.env.PREVIOUS}/deploy/chart`,
        tag: process.env.PREVIOUS_IMAGE_TAG ?? 'test-previous',
      };

export const RELEASE = 'brand-data';
/** Arguments of helm. */
export const WAIT = ['--wait', '--timeout', '10m'];

/** The namespace of a release. It admits only pods of the restricted Pod Security profile. */
export type Namespace = Awaited<ReturnType<typeof createNamespace>>;

export async function createNamespace(purpose: string) {
  const name = `brand-data-${purpose}-${randomBytes(3).toString('hex')}`;
  await tool('kubectl', ['create', 'namespace', name]);
  const remove = () => tool('kubectl', ['delete', 'namespace', name, '--timeout', '5m']);
  await tool('kubectl', ['label', 'namespace', name, 'pod-security.kubernetes.io/enforce=restricted']).catch(
    async (error) => {
      await remove();
      throw error;
    },
  );
  const kubectl = (...args: string[]) => tool('kubectl', ['--namespace', name, ...args]);
  const apply = (manifest: unknown) =>
    tool('kubectl', ['--namespace', name, 'apply', '--filename', '-'], JSON.stringify(manifest));
  return {
    name,
    kubectl,
    apply,
    /** Applies a YAML file of this folder, with these values in place of `${name}`. */
    async applyFile(file: string, values: Record<string, string>) {
      const text = await readFile(new URL(file, import.meta.url), 'utf8');
      return apply(parse(text.replace(/\$\{(\w+)\}/g, (_, key: string) => values[key] ?? '')));
    },
    /** Posts to a path of the cluster's API for which kubectl has no command. */
    create: (path: string, object: unknown) =>
      tool('kubectl', ['create', '--raw', path, '--filename', '-'], JSON.stringify(object)),
    helm: (...args: string[]) => tool(found.path, [...args, '--namespace', name]),
    /** Runs `bds --json` in the release's bds pod. */
    async bds(...args: string[]): Promise<unknown> {
      return JSON.parse(await kubectl('exec', `deploy/${RELEASE}-bds`, '--', 'bds', '--json', ...args));
    },
    /** Resolves to the pods that are ready and not being deleted. */
    async readyPods(component: string) {
      const selector = `app.kubernetes.io/component=${component}`;
      const { items } = JSON.parse(await kubectl('get', 'pods', '--output', 'json', '--selector', selector));
      return (items as Pod[])
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .filter(({ status }) =>
          status.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
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

/** Returns arguments of helm that set these values. */
export const setting = (...values: string[]) => values.flatMap((value) => ['--set', value]);

/** Values with this run's images, and with resource requests so small that two releases fit on a small node. */
export function valuesOf(tag = CLUSTER_IMAGES.tag): string[] {
  const requests = SERVICES.map((service) => `${service}.resources.requests.cpu=25m`);
  const images = setting('images.workers=1', 'images.resources.requests.memory=192Mi');
  return [...imageValues(tag), ...setting(...requests), ...images];
}

/** Values that every version of the chart has. */
function imageValues(tag: string): string[] {
  const requests = ['mongodb', 'nats'].map((server) => `quickstart.${server}.resources.requests.cpu=25m`);
  return setting(`image.repository=${CLUSTER_IMAGES.repository}`, `image.tag=${tag}`, ...requests);
}

/** Installs the quickstart, of the previous version if it is given, and waits until it is ready. Returns how long that took. */
export async function installQuickstart(
  namespace: Namespace,
  { more = [], previous }: { more?: string[]; previous?: typeof PREVIOUS } = {},
): Promise<number> {
  const began = performance.now();
  const values = previous ? imageValues(previous.tag) : valuesOf();
  const enabled = setting('quickstart.enabled=true');
  await namespace.helm('install', RELEASE, previous?.chart ?? CHART, ...WAIT, ...enabled, ...values, ...more);
  return performance.now() - began;
}

/** Waits until `isSo` returns a truthy value. When it gives up, its error names the condition. */
export function waitFor<T>(what: string, isSo: () => Promise<T | undefined | false>, withinMs = 120_000) {
  return until(what, isSo, { withinMs, everyMs: 500 });
}

/** Waits until old pods of the component are deleted, and this many are ready. */
export async function untilPods(
  { kubectl, readyPods }: Namespace,
  component: string,
  count: number,
): Promise<void> {
  await waitFor(`${count} pods of ${component}`, async () => {
    const selector = `app.kubernetes.io/component=${component}`;
    const all = await kubectl('get', 'pods', '--output', 'name', '--selector', selector);
    const isSettled = all.split('\n').filter(Boolean).length === count;
    return isSettled && (await readyPods(component)).length === count;
  });
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
