import { brandOf } from '@brand-data/testing/brand-of';
import { type CommandStartedEvent, type MongoClient, Timestamp } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { sourceRecordOf } from '../src/records/source-record.ts';
import type { CatalogStore } from '../src/storage/store.ts';
import { catalogueDatabases } from './catalogue-databases.ts';

const open = catalogueDatabases();
let client: MongoClient;
let store: CatalogStore;

beforeAll(async () => {
  ({ client, store } = await open());
});

const put = (source: string, id: string, domain: string) =>
  store.putSourceRecords(
    source,
    [sourceRecordOf(source, `${source}-1`, brandOf(id, { domains: [domain] }))],
    {
      dryRun: false,
    },
  );

/** Returns the operation times of the writes, and the times that the server must have reached before it answers later reads. */
async function timesDuring(work: () => Promise<unknown>) {
  const writtenAt: Timestamp[] = [];
  const readAfter: (Timestamp | undefined)[] = [];
  const writes = new Set<number>();
  const isWrite = (name: string) => ['insert', 'update', 'delete', 'commitTransaction'].includes(name);
  const started = ({ commandName, command, requestId }: CommandStartedEvent) => {
    if (isWrite(commandName) && command[commandName] !== 'sources') writes.add(requestId);
    if (commandName === 'find' && writtenAt.length > 0) readAfter.push(command.readConcern?.afterClusterTime);
  };
  const succeeded = ({ requestId, reply }: { requestId: number; reply: unknown }) => {
    if (writes.has(requestId)) writtenAt.push((reply as { operationTime: Timestamp }).operationTime);
  };
  client.on('commandStarted', started).on('commandSucceeded', succeeded);
  await work();
  client.off('commandStarted', started).off('commandSucceeded', succeeded);
  return { writtenAt, readAfter };
}

/** If a primary was elected after the writes, a majority read may return the state before the writes. */
test('the search for other writers after a write sees the write, whichever server answers', async () => {
  await put('other', 'acme', 'acme.example');
  const alone = await timesDuring(() => put('wikidata', 'beta', 'beta.example'));
  const joined = await timesDuring(() => put('wikidata', 'acme', 'acme.example'));
  for (const { writtenAt, readAfter } of [alone, joined]) {
    expect(readAfter.length).toBeGreaterThan(0);
    const latest = writtenAt.reduce((a, b) => (b.greaterThan(a) ? b : a), new Timestamp(0n));
    expect(latest.isZero()).toBe(false);
    for (const time of readAfter) expect(time?.greaterThanOrEqual(latest)).toBe(true);
  }
});
