import type { Db, Document } from 'mongodb';

/** A query that the catalogue sent, as mongod saw it and as it explains it. */
export interface Query {
  readonly candidateKeys: number;
  readonly results: number;
  /** A result counts once for each candidate key that it has: a name with its legal form, and without. */
  readonly matches: number;
  readonly keysExamined: number;
  readonly docsExamined: number;
}

/** The queries on the catalogue that are sent while `work` goes on, each of them explained afterwards. */
export async function queriesDuring(db: Db, work: () => Promise<void>): Promise<Query[]> {
  await db.command({ profile: 0 });
  await db
    .collection('system.profile')
    .drop()
    .catch(() => undefined);
  await db.createCollection('system.profile', { capped: true, size: 64 * 1024 ** 2 });
  await db.command({ profile: 2 });
  try {
    await work();
  } finally {
    await db.command({ profile: 0 });
  }
  const seen = await db
    .collection('system.profile')
    .find({ ns: `${db.databaseName}.brands`, op: { $in: ['query', 'command', 'getmore'] } })
    .toArray();
  const queries: Query[] = [];
  for (const { command } of seen.filter(({ command }) => command?.find !== undefined)) {
    const { filter, projection, limit, batchSize } = command as Document;
    const { executionStats } = await db.command({
      explain: { find: 'brands', filter, projection, limit, batchSize },
      verbosity: 'executionStats',
    });
    const candidates = new Set<string>(filter.keys.$in);
    const found = await db
      .collection<{ keys: string[] }>('brands')
      .find(filter, { projection: { keys: 1 }, limit })
      .toArray();
    queries.push({
      candidateKeys: candidates.size,
      matches: found.flatMap(({ keys }) => keys.filter((key) => candidates.has(key))).length,
      results: executionStats.nReturned,
      keysExamined: executionStats.totalKeysExamined,
      docsExamined: executionStats.totalDocsExamined,
    });
  }
  return queries;
}
