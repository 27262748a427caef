import type { Collection, Document } from 'mongodb';
import { type Cost, costOf, NO_COST, sum } from './cost.ts';
import type { RunningCatalogue } from './running.ts';

/** How many documents are in memory at once. */
const CHUNK = 20_000;
const BATCH = 1_000;
const IN_FLIGHT = 4;

/** The cost of inserting a catalogue's documents with the bare driver. */
export interface BareInserts {
  /** Calls of insertMany with 20,000 documents each, one after another. */
  readonly inTurn: Cost;
  /** Four calls at once with 1,000 documents each. Absent: not measured. */
  readonly atOnce?: Cost;
}

/**
 * Measures unordered insertMany of the catalogue's documents into a new collection with the same indexes and write concern.
 * Reading the documents from the catalogue is not measured.
 */
export async function bareInserts(
  catalogue: RunningCatalogue,
  { alsoAtOnce }: { alsoAtOnce: boolean },
): Promise<BareInserts> {
  const inTurn = await insertAll(catalogue, async (to, documents) => {
    await to.insertMany(documents, { ordered: false });
  });
  console.log(`the same documents are inserted by the bare driver, in ${Math.round(inTurn.seconds)} s`);
  if (!alsoAtOnce) return { inTurn };
  const atOnce = await insertAll(catalogue, async (to, documents) => {
    const batches = Array.from({ length: Math.ceil(documents.length / BATCH) }, (_, place) =>
      documents.slice(place * BATCH, (place + 1) * BATCH),
    ).values();
    const insert = async () => {
      for (const batch of batches) await to.insertMany(batch, { ordered: false });
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, insert));
  });
  return { inTurn, atOnce };
}

async function insertAll(
  catalogue: RunningCatalogue,
  insert: (to: Collection, documents: Document[]) => Promise<void>,
): Promise<Cost> {
  const { client, companies } = catalogue;
  const db = client.db(`${companies.dbName}_bare`);
  await db.dropDatabase();
  const to = db.collection(companies.collectionName, { writeConcern: { w: 'majority', journal: true } });
  const indexes = (await companies.indexes()).filter(({ name }) => name !== '_id_');
  await to.createIndexes(
    indexes.map(({ key, name = '', unique = false }) => ({ key, name, ...(unique && { unique }) })),
  );
  let cost = NO_COST;
  let chunk: Document[] = [];
  const insertChunk = async () => {
    cost = sum(cost, await costOf(catalogue, () => insert(to, chunk)));
    chunk = [];
  };
  for await (const document of companies.find({}, { batchSize: 2_000, promoteBuffers: true })) {
    chunk.push(document);
    if (chunk.length === CHUNK) await insertChunk();
  }
  if (chunk.length > 0) await insertChunk();
  await db.dropDatabase();
  return cost;
}
