import { CatalogServiceClient, type LookupResult } from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import type { Collection, MongoClient } from 'mongodb';
import { startTestStack, type TestStack } from '../../stack/index.ts';

const DEADLINE_MS = 10_000;
export const HOUR_MS = 3_600_000;

/** The running service with a catalogue of one size. */
export interface Catalogue {
  readonly size: number;
  readonly stack: TestStack;
  readonly companies: Collection;
  readonly client: CatalogServiceClient;
}

/** Starts the service with an empty catalogue. */
export async function startCatalogue(mongo: MongoClient, size: number): Promise<Catalogue> {
  const stack = await startTestStack({ gateways: 0, environment: { LOG_LEVEL: 'warn' } });
  const target = stack.targets.catalog ?? '';
  const client = connectChannel(CatalogServiceClient, target, channelAs('gateway', 'catalog'));
  const companies = mongo.db(`${stack.databasePrefix}_catalog`).collection('brands');
  return { size, stack, companies, client };
}

export async function stopCatalogues(catalogues: readonly Catalogue[]): Promise<void> {
  for (const { client, stack } of catalogues) {
    client.close();
    await stack.stop();
  }
}

/** Reads all documents and keys once, so that mongod's cache is as after a long time of use. */
export async function readAll({ companies }: Pick<Catalogue, 'companies'>): Promise<void> {
  await companies.aggregate([{ $group: { _id: null, ranks: { $sum: '$rank' } } }]).toArray();
  await companies.countDocuments({ keys: { $gte: '' } }, { hint: 'ranked_keys' });
}

/** Makes one look-up of these identifiers, as a gateway would. */
export async function lookUp(
  { client }: Pick<Catalogue, 'client'>,
  identifiers: readonly string[],
): Promise<LookupResult[]> {
  const queries = identifiers.map((identifier) => ({ identifier, superinvestors: false, suggest: false }));
  const request = { queries, weakMatches: true, maxBytes: 0 };
  const options = { deadlineMs: DEADLINE_MS, waitForReady: true };
  return (await callUnary(client, client.lookup, request, options)).results;
}

/** Makes one search, as a gateway would. */
export async function search({ client }: Pick<Catalogue, 'client'>, text: string): Promise<void> {
  await callUnary(client, client.search, { text, limit: 10, accountId: '' }, { deadlineMs: DEADLINE_MS });
}
