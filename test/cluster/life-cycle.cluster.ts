import { SERVICES } from '@brand-data/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Callers, startCallers, usageOf } from './callers.ts';
import {
  CHART,
  CLUSTER_IMAGES,
  createNamespace,
  installQuickstart,
  type Namespace,
  PREVIOUS,
  RELEASE,
  setting,
  untilPods,
  valuesOf,
  WAIT,
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
    await installQuickstart(namespace, { previous: PREVIOUS });
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
    await namespace.helm('rollback', RELEASE, ...WAIT);
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
      const all = (await uses()).map(({ used }) => used);
      return all.every((used, place) => used >= (answered[place] ?? 0)) && all;
    });
    expect(billed).toEqual(answered);
  });

  test('has not lost a permit: gateways that stop give back what they have not used', async () => {
    await namespace.kubectl('scale', `deploy/${RELEASE}-gateway`, '--replicas=0');
    // A permit that a gateway did not return would be missing until metering settles its grant, ten minutes later.
    const areBack = async () => (await uses()).every((use) => use.held_by_gateways === 0);
    await waitFor('no permit is out', areBack, 90_000);
    // All usage has arrived by now. If the billed usage still equals the answered calls, nothing was billed twice.
    expect((await uses()).map(({ used }) => used)).toEqual(answered);
  });

  async function upgrade(tag: string): Promise<void> {
    const values = [...setting('quickstart.enabled=true'), ...valuesOf(tag)];
    await namespace.helm('upgrade', RELEASE, CHART, ...WAIT, ...values);
  }

  const allAre = (service: string, count: number) => untilPods(namespace, service, count);

  const uses = () => Promise.all(callers.accounts.map((account) => usageOf(namespace, account)));

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
        await namespace.create(path, eviction);
        return true;
      } catch (error) {
        if (/disruption budget/.test(String(error))) return false;
        throw error;
      }
    });
  }
});
