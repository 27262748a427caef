import type { Brand } from '@brand-data/contracts';
import { brandOf } from '@brand-data/testing/brand-of';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { referenceOf, type SourceRecord, sourceRecordOf } from '../src/records/source-record.ts';
import { catalogueDatabases, type OpenCatalogue } from './catalogue-databases.ts';
import { type RunningCatalog, startCatalog, stockOf } from './running-catalog.ts';
import { factsOf, SOURCES, someBrand, someListings } from './some-records.ts';

const open = catalogueDatabases();
let nats: TestServer;

beforeAll(async () => {
  nats = await startTestNats();
});

afterAll(() => nats.stop());

async function empty({ companies }: OpenCatalogue): Promise<void> {
  await companies.deleteMany({});
}

/** Returns the companies without their ids, revisions and imports, which depend on the catalogue's history. */
async function contents({ companies }: OpenCatalogue) {
  const docs = await companies.find().toArray();
  return docs.map(factsOf).sort((a, b) => (String(a.contributions) < String(b.contributions) ? -1 : 1));
}

/** Import ids sort by time. */
function idOf(run: number): string {
  return `run-${String(run).padStart(3, '0')}`;
}

async function putAll({ store }: OpenCatalogue, all: readonly SourceRecord[]): Promise<void> {
  for (const [source, puts] of Map.groupBy(all, ({ source }) => source))
    await store.putSourceRecords(source, puts, { dryRun: false });
}

test('after concurrent imports, prunes and deletions the catalogue is as if the remaining records were put at once', async () => {
  const [catalogue, other, atOnce] = [await open('history'), await open('history'), await open('at_once')];
  const batches = fc.array(
    fc.record({
      source: fc.constantFrom(...SOURCES),
      brands: fc.uniqueArray(someBrand, { minLength: 1, maxLength: 4, selector: ({ id }) => id }),
      prune: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(batches, fc.nat(3), async (history, deleted) => {
      await Promise.all([empty(catalogue), empty(atOnce)]);
      const left = new Map<string, SourceRecord>();
      // All sources run at once, each in its order, half of them through another replica.
      const bySource = [...Map.groupBy([...history.entries()], ([, { source }]) => source).values()];
      await Promise.all(
        bySource.map(async (ofSource, place) => {
          const { store } = place % 2 === 0 ? catalogue : other;
          for (const [run, { source, brands, prune }] of ofSource) {
            const puts = brands.map((brand) => sourceRecordOf(source, idOf(run), brand));
            const { outcomes } = await store.putSourceRecords(source, puts, { dryRun: false });
            expect(outcomes.filter((outcome) => typeof outcome === 'object')).toEqual([]);
            for (const put of puts) left.set(referenceOf(put), put);
            if (!prune) continue;
            await store.prune(source, idOf(run), { withinMs: 10_000 });
            for (const [reference, record] of left)
              if (record.source === source && record.importId < idOf(run)) left.delete(reference);
          }
        }),
      );
      const doc = (await catalogue.companies.find().sort({ _id: 1 }).toArray())[deleted];
      if (doc !== undefined) {
        await catalogue.store.deleteBrand(doc._id);
        for (const mark of doc.contributions) left.delete(referenceOf(mark));
      }
      await putAll(atOnce, [...left.values()]);
      expect(await contents(catalogue)).toEqual(await contents(atOnce));
    }),
    { numRuns: 25 },
  );
});

/** Two sources' records of the same companies. Some records share an identifier with the next company. */
function twoSources(count: number): { wikidata: Brand[]; feed: Brand[] } {
  const numbers = Array.from({ length: count }, (_, index) => index);
  return {
    wikidata: numbers.map((number) =>
      stockOf(`q${number}`, `T${number}@XNAS`, {
        name: `Company ${number}`,
        rank: number % 900,
        domains: [`company-${number}.com`],
        links: { wikidataQid: `Q${number + 1}` },
      }),
    ),
    feed: numbers.map((number) =>
      stockOf(`company-${number}`, `T${number}@XETR`, {
        name: `Company ${number - (number % 2)} Inc.`,
        rank: number % 700,
        domains: [`company-${number - (number % 3)}.com`],
        links: { wikidataQid: number % 5 === 0 ? `Q${number + 1}` : '' },
      }),
    ),
  };
}

test('imports that are killed while others run, and then run again, give the same catalogue as complete runs', async () => {
  const { wikidata, feed } = twoSources(240);
  const whole = await open('whole');
  await putAll(whole, [
    ...wikidata.map((brand) => sourceRecordOf('wikidata', 'run', brand)),
    ...feed.map((brand) => sourceRecordOf('feed', 'run', brand)),
  ]);

  const killed = await open('killed');
  const settings = { mongodbUrl: inject('mongodbUrl'), natsUrl: nats.url, database: killed.db.databaseName };
  const [first, second] = await Promise.all([startCatalog(settings), startCatalog(settings)]);
  const importInto = async (catalog: RunningCatalog, source: string, brands: readonly Brand[]) => {
    for (let start = 0; start < brands.length; start += 20) {
      // Retries, as importers do, because the transaction of a killed replica locks records until MongoDB aborts it.
      const put = () => catalog.put(source, brands.slice(start, start + 20));
      await vi.waitFor(put, { timeout: catalog === first ? 0 : 90_000 });
    }
  };
  const cut = Promise.allSettled([
    importInto(first, 'wikidata', wikidata),
    importInto(first, 'feed', feed.toReversed()),
  ]);
  const beside = importInto(second, 'feed', feed);
  await expect.poll(() => killed.companies.countDocuments()).toBeGreaterThan(100);
  await first.kill();
  await Promise.all([cut, beside]);
  await Promise.all([importInto(second, 'wikidata', wikidata), importInto(second, 'feed', feed)]);
  await second.stop();
  expect(await contents(killed)).toEqual(await contents(whole));
  expect((await contents(whole)).length).toBeLessThan(wikidata.length + feed.length);
});

test('concurrent imports of two sources link all records that they share', async () => {
  const { wikidata, feed } = twoSources(60);
  const [one, two, whole] = [await open('beside'), await open('beside'), await open('beside_whole')];
  const ofWikidata = wikidata.map((brand) => sourceRecordOf('wikidata', 'run', brand));
  const ofFeed = feed.map((brand) => sourceRecordOf('feed', 'run', brand));
  await putAll(whole, [...ofWikidata, ...ofFeed]);
  for (let round = 0; round < 5; round++) {
    await empty(one);
    await Promise.all([
      one.store.putSourceRecords('wikidata', ofWikidata, { dryRun: false }),
      two.store.putSourceRecords('feed', ofFeed, { dryRun: false }),
    ]);
    expect(await contents(one)).toEqual(await contents(whole));
  }
});

test('if another writer stores what shares keys with a record of a batch, only this record is planned again, and the answer covers the batch', async () => {
  const { wikidata, feed } = twoSources(12);
  const [one, two, whole] = [await open('met'), await open('met'), await open('met_whole')];
  const ofFeed = feed.map((brand) => sourceRecordOf('feed', 'run', brand));
  const [known = [], met = []] = [wikidata.slice(0, 1), wikidata.slice(4, 5)].map((brands) =>
    brands.map((brand) => sourceRecordOf('wikidata', 'run', brand)),
  );
  // Records of a first source are not compared with any others.
  for (const { store } of [one, whole]) await store.putSourceRecords('wikidata', known, { dryRun: false });
  const expected = await whole.store.putSourceRecords('feed', ofFeed, { dryRun: false });
  await whole.store.putSourceRecords('wikidata', met, { dryRun: false });

  const searches: string[][] = [];
  const note = ({ command }: { command: { find?: string; filter?: { keys?: { $in?: string[] } } } }) => {
    if (command.find === 'brands' && command.filter?.keys?.$in) searches.push(command.filter.keys.$in);
  };
  let isFirst = true;
  const beforeWriting = async () => {
    if (!isFirst) return;
    isFirst = false;
    await two.store.putSourceRecords('wikidata', met, { dryRun: false });
    one.client.on('commandStarted', note);
  };
  const answer = await one.store.putSourceRecords('feed', ofFeed, { dryRun: false, beforeWriting });
  one.client.off('commandStarted', note);
  expect(answer.outcomes).toEqual(expected.outcomes);
  expect(answer.conflicts.length).toBeGreaterThan(0);
  expect(answer.conflicts.map(byIdentifier).sort()).toEqual(expected.conflicts.map(byIdentifier).sort());
  expect(await contents(one)).toEqual(await contents(whole));
  expect(searches.length).toBeGreaterThan(0);
  expect(searches.flat().filter((key) => key === 'domain:company-9.com')).toEqual([]);
});

test('a record that joins nothing because many of its batch have its name joins nothing either if another writer meets it', async () => {
  const [one, two, whole] = [await open('alone'), await open('alone'), await open('alone_whole')];
  const company = { headquarters: { countryCode: 'DE' } };
  const ofWikidata = [
    brandOf('q1', { name: 'Acme Inc.', company }),
    brandOf('q2', { name: 'Initech', company, domains: ['initech.com'] }),
  ].map((brand) => sourceRecordOf('wikidata', 'run', brand));
  const elsewhere = { headquarters: { countryCode: 'US' } };
  const globex = brandOf('q3', { name: 'Globex', company: elsewhere, domains: ['globex.com'] });
  const met = [sourceRecordOf('wikidata', 'run', globex)];
  const ofFeed = Array.from({ length: 20 }, (_, index) =>
    brandOf(`a${index}`, { name: 'Acme Inc.', company, domains: index === 0 ? ['globex.com'] : [] }),
  )
    .concat(brandOf('initech', { name: 'Initech', company, domains: ['initech.com'] }))
    .map((brand) => sourceRecordOf('feed', 'run', brand));
  const options = { dryRun: false, onlyJoining: true };
  await whole.store.putSourceRecords('wikidata', [...ofWikidata, ...met], { dryRun: false });
  const expected = await whole.store.putSourceRecords('feed', ofFeed, options);
  await one.store.putSourceRecords('wikidata', ofWikidata, { dryRun: false });
  const beforeWriting = async () =>
    void (await two.store.putSourceRecords('wikidata', met, { dryRun: false }));
  const { outcomes } = await one.store.putSourceRecords('feed', ofFeed, { ...options, beforeWriting });
  expect(outcomes).toEqual(expected.outcomes);
  expect(outcomes.filter((outcome) => outcome !== 'alone')).toHaveLength(1);
  expect(await contents(one)).toEqual(await contents(whole));
});

test('a record that is removed after a batch has written it, and before the batch ends, stays removed', async () => {
  const two = await open('removed');
  let isFirst = true;
  const one = await open('removed', async (_keys, write) => {
    const written = await write();
    if (isFirst && (await two.companies.findOne({ _id: 'acme' }))) {
      isFirst = false;
      expect(await two.store.deleteBrand('acme')).toMatchObject({ contributions: 1 });
    }
    return written;
  });
  const [known, acme, globex] = ['initech', 'acme', 'globex'].map((id) =>
    brandOf(id, { name: id, domains: [`${id}.com`] }),
  ) as [Brand, Brand, Brand];
  await one.store.putSourceRecords('wikidata', [sourceRecordOf('wikidata', 'run', known)], { dryRun: false });
  const puts = [acme, globex].map((brand) => sourceRecordOf('feed', 'run', brand));
  await one.store.putSourceRecords('feed', puts, { dryRun: false });
  expect(isFirst).toBe(false);
  expect((await contents(one)).map(({ contributions }) => contributions)).toEqual([
    ['feed/globex'],
    ['wikidata/initech'],
  ]);
});

const byIdentifier = ({ reference, identifier }: { reference: string; identifier: string }) =>
  `${reference} ${identifier}`;

test('however the listings of one source are spread over batches that come at once, they give the same companies', async () => {
  const [one, two, whole] = [await open('spread'), await open('spread'), await open('spread_whole')];
  const some = fc.tuple(someListings, fc.infiniteStream(fc.nat(3)));
  await fc.assert(
    fc.asyncProperty(some, async ([listings, batches]) => {
      await Promise.all([empty(one), empty(whole)]);
      const puts = listings.map((brand) => sourceRecordOf('financedatabase', 'run', brand));
      await putAll(whole, puts);
      const split = Map.groupBy(puts, () => batches.next().value).values();
      await Promise.all([...split].map((batch, place) => putAll(place % 2 === 0 ? one : two, batch)));
      expect(await contents(one)).toEqual(await contents(whole));
    }),
    { numRuns: 25 },
  );
});

test('a record that matches a company which already has a record of the same source becomes a separate company', async () => {
  const catalogue = await open('beside_own');
  const acme = (id: string) => brandOf(id, { name: 'Acme', domains: ['acme.com'] });
  const put = (source: string, ...ids: string[]) =>
    putAll(
      catalogue,
      ids.map((id) => sourceRecordOf(source, 'run', acme(id))),
    );
  await put('wikidata', 'acme');
  await put('feed', 'acme');
  await put('feed', 'acme-2', 'acme-3');
  expect((await contents(catalogue)).map(({ contributions }) => contributions)).toEqual([
    ['feed/acme', 'wikidata/acme'],
    ['feed/acme-2'],
    ['feed/acme-3'],
  ]);
});

test('a prune that runs out of time reports that records are left, and the next prune removes them', async () => {
  const catalogue = await open('prune');
  const puts = Array.from({ length: 450 }, (_, index) =>
    sourceRecordOf('feed', 'run-1', brandOf(`acme-${index}`)),
  );
  await putAll(catalogue, puts);
  const answers = [];
  do answers.push(await catalogue.store.prune('feed', 'run-2', { withinMs: 0 }));
  while (answers.at(-1)?.more);
  expect(answers.map(({ pruned }) => pruned)).toEqual([200, 200, 50, 0]);
  expect(await contents(catalogue)).toEqual([]);
});

test('if two concurrent imports of a source both prune, the records of the newer import stay', async () => {
  const catalogue = await open('overlapping');
  const [older, newer] = ['2026-11-20T10:00:00.000Z-f', '2026-11-20T10:00:01.000Z-a'];
  const put = (importId: string, from: number, count: number) =>
    catalogue.store.putSourceRecords(
      'feed',
      Array.from({ length: count }, (_, index) =>
        sourceRecordOf('feed', importId, brandOf(`acme-${from + index}`)),
      ),
      { dryRun: false },
    );
  await put('2026-11-20T09:00:00.000Z-c', 90, 20);
  await Promise.all([put(older, 0, 60), put(newer, 0, 60)]);
  await Promise.all([put(older, 60, 40), put(newer, 60, 40)]);
  const prunes = [older, newer, older].map((importId) =>
    catalogue.store.prune('feed', importId, { withinMs: 10_000 }),
  );
  await Promise.all(prunes);
  // A late batch of the older import arrives, and then the older import ends.
  await put(older, 0, 100);
  await catalogue.store.prune('feed', older, { withinMs: 10_000 });
  await catalogue.store.prune('feed', newer, { withinMs: 10_000 });
  expect(await catalogue.companies.countDocuments()).toBe(100);
});

test('whether a shared key links records does not depend on the rest of the batch', async () => {
  const catalogue = await open('hot_key_batches');
  const of = (source: string, count: number, host: string) =>
    Array.from({ length: count }, (_, index) =>
      sourceRecordOf(
        source,
        'run',
        brandOf(`${source}-${host}-${index}`, { name: `${host} ${index}`, domains: [host] }),
      ),
    );
  const feed = [...of('feed', 100, 'few.com'), ...of('feed', 101, 'many.com')];
  const wikidata = [...of('wikidata', 40, 'few.com'), ...of('wikidata', 40, 'many.com')];
  for (const batches of [wikidata.map((put) => [put]), [wikidata], [wikidata.toReversed()]]) {
    await empty(catalogue);
    await putAll(catalogue, feed);
    for (const puts of batches) await putAll(catalogue, puts);
    expect(await catalogue.companies.countDocuments()).toBe(feed.length + 40);
  }
});

test('an abandoned change is answered with unavailable and writes nothing', async () => {
  const catalogue = await open('abandoned');
  const signal = AbortSignal.abort();
  const puts = [sourceRecordOf('feed', 'run', brandOf('acme'))];
  const put = catalogue.store.putSourceRecords('feed', puts, { dryRun: false, signal });
  await expect(put).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await catalogue.companies.countDocuments()).toBe(0);
});

test('an identifier that thousands of records of one source share does not block another source', async () => {
  const catalogue = await open('hot_key');
  const domains = ['example.com'];
  for (let start = 0; start < 6_000; start += 500) {
    const brands = Array.from({ length: 500 }, (_, index) => brandOf(`shop-${start + index}`, { domains }));
    await putAll(
      catalogue,
      brands.map((brand) => sourceRecordOf('feed', 'run', brand)),
    );
  }
  const puts = [brandOf('mall', { domains }), brandOf('shop-7', { domains })].map((brand) =>
    sourceRecordOf('sample', 'run', brand),
  );
  const { outcomes } = await catalogue.store.putSourceRecords('sample', puts, { dryRun: false });
  expect(outcomes).toEqual(['created', 'changed']);
});
