import { setTimeout as delay } from 'node:timers/promises';
import type { MongodCluster } from './clusters.ts';

const ELECTED_WITHIN_MS = 30_000;

/**
 * Another member becomes primary. What is acknowledged in `before` is not in its majority reads until `during` has ended:
 * as it is, for up to a second, after any election. `mongodb` was started with failpoints.
 */
export async function inStaleView<T>(
  mongodb: MongodCluster,
  before: () => Promise<T>,
  during: (given: T) => Promise<void>,
): Promise<T> {
  const primary = await mongodb.leader();
  const others = [...mongodb.members.keys()].filter((name) => name !== primary);
  const [next = ''] = others;
  await keepView(mongodb, others, 'alwaysOn');
  try {
    const given = await before();
    await mongodb.command(next, { replSetStepUp: 1, skipDryRun: true });
    const lateMs = performance.now() + ELECTED_WITHIN_MS;
    while ((await mongodb.leader()) !== next) {
      if (performance.now() > lateMs) throw new Error(`${next} was not elected`);
      await delay(50);
    }
    await during(given);
    return given;
  } finally {
    await keepView(mongodb, others, 'off');
  }
}

async function keepView(mongodb: MongodCluster, members: readonly string[], mode: 'alwaysOn' | 'off') {
  for (const member of members) {
    const answer = await mongodb.command(member, { configureFailPoint: 'disableSnapshotting', mode });
    if (answer?.ok !== 1) throw new Error(`${member} was not told to keep its view`);
  }
}
