import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCallers } from './callers.ts';
import { createNamespace, installQuickstart, type Namespace, RELEASE, setting, waitFor } from './cluster.ts';

describe('a gateway that is scaled by its processor time', () => {
  let namespace: Namespace;

  beforeAll(async () => {
    namespace = await createNamespace('autoscaling');
    const autoscaling = ['enabled=true', 'cpu=150m', 'minReplicas=1', 'maxReplicas=3'];
    const more = setting(...autoscaling.map((value) => `gateway.autoscaling.${value}`));
    await installQuickstart(namespace, { more });
  });

  afterAll(() => namespace?.delete());

  test('gets more pods under load, which lose no call', async () => {
    // Once the CPU use of the gateway's start is over, only the load can make the autoscaler act.
    await waitFor('the gateway is seen to be idle', async () => {
      const read = '{.status.currentMetrics[0].resource.current.averageValue}';
      const cpu = await namespace.kubectl('get', `hpa/${RELEASE}-gateway`, '--output', `jsonpath=${read}`);
      return /^\d+m$/.test(cpu) && Number.parseInt(cpu, 10) < 100;
    });
    expect(await namespace.readyPods('gateway')).toHaveLength(1);
    const callers = await startCallers(namespace, 400);
    const began = performance.now();
    await waitFor(
      'a second gateway is ready',
      async () => (await namespace.readyPods('gateway')).length > 1,
      300_000,
    );
    console.log(`a second gateway: after ${((performance.now() - began) / 1_000).toFixed(0)} s`);
    const { failures, ...counts } = await callers.stop();
    console.log(JSON.stringify(counts));
    expect(failures).toEqual([]);
  });
});
