import { SERVICES } from '@brand-data/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Callers, startCallers, usageOf } from './callers.ts';
import {
  CHART,
  CLUSTER_IMAGES,
  createNamespace,
  installPreviousQuickstart,
  installQuickstart,
  type Namespace,
  PREVIOUS,
  RELEASE,
  valuesOf,
  waitFor,
} from './cluster.ts';

const CALLS_PER_SECOND = Number(process.env.CALLS_PER_SECOND ?? 60);

describe('under a steady load', () => {
  let namespace: Namespace;
  let callers: Callers;
  /** Answered calls of each account, known once the callers have stopped. */
  let answered: readonly number[];

  beforeAll(async () => {
    namespace = await createNamespace('life-cycle');
    if (PREVIOUS) await installPreviousQuickstart(namespace, PREVIOUS);
    else await installQuickstart(namespace);
    callers = await startCallers(namespace, CALLS_PER_SECOND);
  });

  afterAll(() => namespace?.delete());

  test.skipIf(PREVIOUS === undefined)('an upgrade from the version before', async () => {
    await upgrade(CLUSTER_IMAGES.tag);
    for (const service of SERVICES) expect(await namespace.readyPods(service)).toHaveLength(2);
    await goOn();
  });

  test('an upgrade to the next images', async () => {
    await upgrade(CLUSTER_IMAGES.nextTag);
    await goOn();
  });

  test('a rollback to the release before', async () => {
    await namespace.helm('rollback', RELEASE, '--wait', '--timeout', '10m');
    await goOn();
  });

  test.each(SERVICES)('a restart of %s', async (service) => {
    await namespace.kubectl('rollout', 'restart', `deploy/${RELEASE}-${service}`);
    await namespace.kubectl('rollout', 'status', `deploy/${RELEASE}-${service}`, '--timeout', '5m');
    await goOn();
  });

  test('one gateway, then three, then one', async () => {
    for (const count of [1, 3, 1]) {
      await namespace.kubectl('scale', `deploy/${RELEASE}-gateway`, `--replicas=${count}`);
      await allAre('gateway', count);
      await goOn();
    }
    await namespace.kubectl('scale', `deploy/${RELEASE}-gateway`, '--replicas=2');
    await allAre('gateway', 2);
  });

  test.each(SERVICES)('each pod of %s deleted', async (service) => {
    for (const pod of await namespace.readyPods(service)) {
      await namespace.kubectl('delete', 'pod', pod, '--wait=true');
      await allAre(service, 2);
    }
    await goOn();
  });

  test('each pod evicted, as far as disruption budgets let it, as when nodes are drained', async () => {
    for (const service of SERVICES) {
      const pods = await namespace.readyPods(service);
      // The test evicts both pods at once. The disruption budget allows the second eviction only when a new pod has replaced the
      // first.
      await Promise.all(pods.map((pod) => evict(pod)));
      await allAre(service, 2);
    }
    await goOn();
  });

  test('has not lost a call, and each is billed once', async () => {
    const seen = await callers.stop();
    const { failures, ...counts } = seen;
    console.log(JSON.stringify(counts));
    expect(failures).toEqual([]);
    expect(Object.keys(seen.byStatus)).toEqual(['200']);
    answered = seen.answered;
    const billed = await waitFor('usage is counted', async () => {
      const uses = await Promise.all(callers.accounts.map((account) => usageOf(namespace, account)));
      const isAll = uses.every((use, place) => use.used >= (answered[place] ?? 0));
      return isAll && uses.map((use) => use.used);
    });
    expect(billed).toEqual(answered);
  });

  test('has not lost a permit: gateways that stop give back what they have not used', async () => {
    await namespace.kubectl('scale', `deploy/${RELEASE}-gateway`, '--replicas=0');
    // A permit that a gateway did not return would be missing until metering settles its grant, ten minutes later.
    await waitFor(
      'no permit is out',
      async () => {
        const uses = await Promise.all(callers.accounts.map((account) => usageOf(namespace, account)));
        return uses.every((use) => use.held_by_gateways === 0);
      },
      90_000,
    );
    // All usage has arrived by now. If the billed usage still equals the answered calls, nothing was billed twice.
    const used = await Promise.all(
      callers.accounts.map(async (account) => (await usageOf(namespace, account)).used),
    );
    expect(used).toEqual(answered);
  });

  async function upgrade(tag: string, ...more: string[]): Promise<void> {
    const values = ['--set', 'quickstart.enabled=true', ...valuesOf(tag), ...more];
    await namespace.helm('upgrade', RELEASE, CHART, '--wait', '--timeout', '10m', ...values);
  }

  /** Waits until old pods are deleted and all pods are ready. */
  async function allAre(service: string, count: number): Promise<void> {
    await waitFor(`${count} pods of ${service}`, async () => {
      const selector = `app.kubernetes.io/component=${service}`;
      const all = await namespace.kubectl('get', 'pods', '--output', 'name', '--selector', selector);
      const isSettled = all.trim().split('\n').length === count;
      return isSettled && (await namespace.readyPods(service)).length === count;
    });
  }

  /** Waits for a few hundred more calls. */
  async function goOn(): Promise<void> {
    const before = await callers.calls();
    await waitFor('calls go on', async () => (await callers.calls()) > before);
  }

  async function evict(pod: string): Promise<void> {
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: pod, namespace: namespace.name },
    };
    await waitFor(`${pod} may be evicted`, async () => {
      const path = `/api/v1/namespaces/${namespace.name}/pods/${pod}/eviction`;
      try {
        await namespace.create(path, JSON.stringify(eviction));
        return true;
      } catch (error) {
        if (/disruption budget/.test(String(error))) return false;
        throw error;
      }
    });
  }
});
