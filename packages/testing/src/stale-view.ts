import type { MongodCluster } from './clusters.ts';
import { until } from './until.ts';

/**
 * Runs `before`, makes another member primary, and then runs `during`. Until `during` has ended, majority reads of the new
 * primary do not show writes that were acknowledged in `before`. After a real election, reads may lack acknowledged writes for up
 * to a second.
 *
 * @param how whether the old primary is killed or steps down
 */
export async function inStaleView<T>(
  mongodb: MongodCluster,
  before: () => Promise<T>,
  during: (given: T) => Promise<void>,
  how: 'killed' | 'deposed' = 'deposed',
): Promise<T> {
  const primary = await mongodb.leader();
  const others = [...mongodb.members.keys()].filter((name) => name !== primary);
  await keepView(mongodb, others, 'alwaysOn');
  try {
    const given = await before();
    if (how === 'killed') await mongodb.members.get(primary ?? '')?.kill();
    await elect(mongodb, others);
    await during(given);
    return given;
  } finally {
    await keepView(mongodb, others, 'off');
    await mongodb.members.get(primary ?? '')?.start();
    // If it does not become whole, the next test that needs it fails.
    const whole = until('the replica set is whole', mongodb.isWhole, { withinMs: 60_000, everyMs: 50 });
    await whole.catch(() => {});
  }
}

/**
 * Makes one of these members primary: the one that has replicated the most. Although the old primary has stepped down, the
 * members would not elect a member that lacks writes that other members have.
 */
async function elect(mongodb: MongodCluster, members: readonly string[]): Promise<void> {
  const isElected = async () => {
    const leader = await mongodb.leader();
    if (leader !== undefined && members.includes(leader)) return true;
    const newest = await newestOf(mongodb, members);
    await mongodb.command(newest, { replSetStepUp: 1, skipDryRun: true });
    return false;
  };
  await until(`one of ${members} is elected`, isElected, { withinMs: 30_000, everyMs: 50 });
}

/** Returns the name of the member that has replicated the most. */
async function newestOf(mongodb: MongodCluster, members: readonly string[]): Promise<string> {
  const copied = await Promise.all(
    members.map(async (name) => {
      const { optimes } = (await mongodb.command(name, { replSetGetStatus: 1 })) ?? {};
      return { name, at: BigInt(optimes?.appliedOpTime.ts ?? 0) };
    }),
  );
  const [newest] = copied.toSorted((a, b) => (a.at > b.at ? -1 : 1));
  return newest?.name ?? '';
}

async function keepView(mongodb: MongodCluster, members: readonly string[], mode: 'alwaysOn' | 'off') {
  for (const member of members) {
    const answer = await mongodb.command(member, { configureFailPoint: 'disableSnapshotting', mode });
    if (answer?.ok !== 1) throw new Error(`${member} was not told to keep its view`);
  }
}
