import { fileURLToPath } from 'node:url';
import { CLUSTER_IMAGES, type Namespace, PREVIOUS, RELEASE, waitFor } from './cluster.ts';

/** The answers that the callers got until they were stopped. */
interface Seen {
  calls: number;
  /** Number of calls by status, or by the error that ended the call. */
  byStatus: Record<string, number>;
  /** Number of calls answered with a record, for each account. */
  answered: number[];
  failures: { at: string; outcome: string | number; name: string; tookMs: number }[];
  longestMs: number;
}

export type Callers = Awaited<ReturnType<typeof startCallers>>;

const POD = 'callers';
const ALLOWANCE = 1_000_000;

/** Creates a few accounts and starts callers with their tokens. Returns when they make calls. */
export async function startCallers(namespace: Namespace, callsPerSecond: number) {
  const accounts = ['one', 'two', 'three'].map((name) => `callers-${name}`);
  const tokens: string[] = [];
  for (const account of accounts) tokens.push(await newToken(namespace, account, ALLOWANCE));
  const script = fileURLToPath(new URL('callers.mjs', import.meta.url));
  await namespace.kubectl('create', 'configmap', POD, `--from-file=callers.mjs=${script}`);
  await namespace.kubectl('create', 'secret', 'generic', POD, `--from-literal=TOKENS=${tokens.join(',')}`);
  await namespace.applyFile('callers.yaml', {
    image: `${CLUSTER_IMAGES.repository}/bds:${PREVIOUS?.tag ?? CLUSTER_IMAGES.tag}`,
    gateway: `http://${RELEASE}-gateway`,
    callsPerSecond: String(callsPerSecond),
  });
  await namespace.kubectl('wait', '--for=condition=Ready', `pod/${POD}`, '--timeout', '2m');

  const logOf = async () => (await namespace.kubectl('logs', POD)).trim().split('\n');
  const calls = async () => {
    const last = (await logOf()).at(-1);
    return last ? (JSON.parse(last) as Seen).calls : 0;
  };
  await waitFor('the callers call', async () => (await calls()) > 0);
  return {
    accounts,
    /** Resolves to the number of calls made so far. */
    calls,
    /** Stops the callers. Calls under way may end. */
    async stop(): Promise<Seen> {
      const stop = "process.kill(1, 'SIGUSR2')";
      await namespace.kubectl('exec', POD, '--', 'node', '--eval', stop);
      const succeeded = '--for=jsonpath={.status.phase}=Succeeded';
      await namespace.kubectl('wait', succeeded, `pod/${POD}`, '--timeout', '1m');
      const seen = JSON.parse((await logOf()).at(-1) ?? '') as Seen;
      await namespace.kubectl('delete', `pod/${POD}`, `secret/${POD}`, `configmap/${POD}`);
      return seen;
    },
  };
}

/** Creates an account on a new plan with one pool for both routes, and returns the account's token. */
export async function newToken(namespace: Namespace, account: string, allowance: number): Promise<string> {
  await namespace.bds('plan', 'set', account, '--pool', `calls=${allowance}:brands,logos`);
  await namespace.bds('account', 'create', '--id', account, '--name', account, '--plan', account);
  const { token } = (await namespace.bds('key', 'create', account)) as { token: string };
  return token;
}

/** Returns an account's usage of this month, from metering. */
export async function usageOf(namespace: Namespace, account: string): Promise<PoolUse> {
  const { pools } = (await namespace.bds('usage', account)) as { pools: PoolUse[] };
  const [pool] = pools;
  if (pool === undefined) throw new Error(`${account} has no pool`);
  return pool;
}

export interface PoolUse {
  allowance: number;
  used: number;
  remaining: number;
  held_by_gateways: number;
}
