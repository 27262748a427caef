import type { Document } from 'mongodb';
import { type Cost, costOf, NO_COST, sum } from './cost.ts';
import type { RunningCatalogue } from './running.ts';

/** How many documents are in memory at once. */
const CHUNK = 20_000;

/**
 * Measures unordered insertMany of the catalogue's documents into a new collection with the same indexes and write concern, one call
 * of 20,000 documents after another. Reading the documents from the catalogue is not measured.
 */
export async function bareInserts(catalogue: RunningCatalogue): Promise<Cost> {
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
    cost = sum(
      cost,
      await costOf(catalogue, async () => void (await to.insertMany(chunk, { ordered: false }))),
    );
    chunk = [];
  };
  for await (const document of companies.find({}, { batchSize: 2_000, promoteBuffers: true })) {
    chunk.push(document);
    if (chunk.length === CHUNK) await insertChunk();
  }
  if (chunk.length > 0) await insertChunk();
  await db.dropDatabase();
  console.log(`the same documents are inserted by the bare driver, in ${Math.round(cost.seconds)} s`);
  return cost;
}
