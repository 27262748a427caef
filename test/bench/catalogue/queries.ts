import type { Db, Document } from 'mongodb';

/** A query of the catalogue, with mongod's explanation of it. */
export interface Query {
  /** "all": finds every company that has one of the keys. "best": finds the best company for each key. */
  readonly of: 'all' | 'best';
  readonly candidateKeys: number;
  readonly results: number;
  /**
   * The results, counted once for each candidate key that found them. For example, a name may be found with and without its
   * legal form.
   */
  readonly matches: number;
  readonly keysExamined: number;
  readonly docsExamined: number;
}

/** Records the queries that the catalogue sends while `work` runs, then has mongod explain each of them. */
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
    .find({ op: { $in: ['query', 'command', 'getmore'] } })
    .toArray();
  const queries: Query[] = [];
  for (const { command } of seen) {
    if (command?.find === 'brands') queries.push(await explainFind(db, command));
    if (command?.pipeline?.[0]?.$documents !== undefined)
      queries.push(await explainBest(db, command.pipeline));
  }
  return queries;
}

async function explainFind(db: Db, { filter, projection, limit, batchSize }: Document): Promise<Query> {
  const { executionStats } = await db.command({
    explain: { find: 'brands', filter, projection, limit, batchSize },
    verbosity: 'executionStats',
  });
  const candidates = new Set<string>(filter.keys.$in);
  const found = await db
    .collection<{ keys: string[] }>('brands')
    .find(filter, { projection: { keys: 1 }, limit })
    .toArray();
  return {
    of: 'all',
    candidateKeys: candidates.size,
    matches: found.flatMap(({ keys }) => keys.filter((key) => candidates.has(key))).length,
    results: executionStats.nReturned,
    keysExamined: executionStats.totalKeysExamined,
    docsExamined: executionStats.totalDocsExamined,
  };
}

async function explainBest(db: Db, pipeline: Document[]): Promise<Query> {
  const [{ $documents: documents = [] } = {}, ...rest] = pipeline;
  // mongod's sums do not include the look-up of the last entry. Therefore this adds a last entry that finds nothing.
  const explained = [{ $documents: [...documents, { entry: 'none' }] }, ...rest];
  const { stages } = await db.command({
    explain: { aggregate: 1, pipeline: explained, cursor: {} },
    verbosity: 'executionStats',
  });
  const [lookup] = (stages as Document[]).filter((stage) => '$lookup' in stage);
  const results = (await db.aggregate(pipeline).toArray()).length;
  return {
    of: 'best',
    candidateKeys: documents.length,
    results,
    matches: results,
    keysExamined: Number(lookup?.totalKeysExamined),
    docsExamined: Number(lookup?.totalDocsExamined),
  };
}
