import type { Db } from 'mongodb';
import { foundFill } from '../observe/diagnosis.ts';
import { retryUntilStopped } from '../service/retry.ts';
import type { Service } from '../service/service.ts';
import type { Mongo } from './mongo.ts';

const ANSWER_MS = 2_500;
const DISK = { warning: 0.8, wrong: 0.9 };
const GIB = 1024 ** 3;

/** Adds the checks of the database's server: whether it answers, and how full the disk of its data is. */
export function checkDatabase({ diagnosis }: Pick<Service, 'diagnosis'>, db: Db): void {
  diagnosis?.add('MongoDB', async () => {
    const began = performance.now();
    await db.command({ ping: 1 }, { signal: AbortSignal.timeout(ANSWER_MS) });
    return { state: 'ok', detail: `answers in ${Math.ceil(performance.now() - began)} ms` };
  });
  diagnosis?.add('disk of MongoDB', async () => {
    const { fsUsedSize, fsTotalSize } = await db.command(
      { dbStats: 1 },
      { signal: AbortSignal.timeout(ANSWER_MS) },
    );
    if (!(fsTotalSize > 0)) return { state: 'ok', detail: 'the server does not say how full it is' };
    const share = fsUsedSize / fsTotalSize;
    return foundFill(share, DISK, {
      detail: `${Math.round(share * 100)} % of ${Math.round(fsTotalSize / GIB)} GiB are used`,
      advice: 'give the volume more space: a full disk stops every write',
    });
  });
}

/**
 * Adds the check that no index is missing that the service has now. Call it when the service has created its indexes. Without one
 * of them queries may take too long, or two documents may be equal that must not be.
 */
export async function checkIndexes(service: Service, { db }: Mongo): Promise<void> {
  const { diagnosis } = service;
  if (diagnosis === undefined) return;
  const wanted = await retryUntilStopped('indexes', () => indexesOf(db), service);
  diagnosis.add('indexes', async () => {
    const now = await indexesOf(db);
    const missing = [...wanted].filter((name) => !now.has(name));
    if (missing.length === 0) return { state: 'ok', detail: `all ${wanted.size} are there` };
    return {
      state: 'wrong',
      detail: `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
      advice: 'restart one replica of the service, which creates them again; find out who has removed them',
    };
  });
}

/** Returns the names of all indexes: "ledgers.accountId_1_month_1__id_1". */
async function indexesOf(db: Db): Promise<Set<string>> {
  const options = { maxTimeMS: ANSWER_MS };
  const collections = await db
    .listCollections({ type: 'collection' }, { nameOnly: true, ...options })
    .toArray();
  const names = collections.map(async ({ name }) => {
    const indexes = await db.collection(name).listIndexes(options).toArray();
    return indexes.map((index) => `${name}.${index.name}`);
  });
  return new Set((await Promise.all(names)).flat());
}
