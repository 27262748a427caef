import { randomBytes } from 'node:crypto';
import { ImportOutcome, type NoteImportRequest, Source, Stock } from '@brand-data/contracts';
import { brandOf } from '@brand-data/testing/brand-of';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { agesOf, tradingDaysSince } from '../src/records/fact-ages.ts';
import { type RunningCatalog, startCatalog, stockOf } from './running-catalog.ts';

const DAY_MS = 86_400_000;

test('trading days since a day are the Mondays to Fridays after it, up to today', () => {
  const day = fc.integer({ min: 0, max: 40_000 });
  fc.assert(
    fc.property(day, fc.integer({ min: 0, max: 400 }), fc.nat(DAY_MS - 1), (from, later, ms) => {
      const days = Array.from({ length: later }, (_, index) => new Date((from + index + 1) * DAY_MS));
      const trading = days.filter((each) => each.getUTCDay() >= 1 && each.getUTCDay() <= 5);
      const text = new Date(from * DAY_MS).toISOString().slice(0, 10);
      expect(tradingDaysSince(text, (from + later) * DAY_MS + ms)).toBe(trading.length);
      expect(tradingDaysSince(text, (from - 3) * DAY_MS)).toBe(0);
    }),
  );
});

test('the age in the middle has as many older facts as newer ones, in each group of fields that a source dates apart', () => {
  const date = fc.integer({ min: 2_000, max: 2_030 }).map(String);
  fc.assert(
    fc.property(fc.array(fc.oneof(date, fc.constant('')), { minLength: 1, maxLength: 20 }), (dates) => {
      const records = dates.map((each) => ({
        brand: brandOf('acme', {
          sources: [{ date: each }, { date: '2026-01-02', fields: ['stock.price', 'stock.currency'] }],
        }),
        isQuote: false,
      }));
      const [other, stock] = agesOf(records).facts;
      expect(stock).toMatchObject({ fields: 'stock', records: dates.length, median: '2026-01-02' });
      const known = dates.filter((each) => each !== '');
      expect(other).toMatchObject({ records: dates.length, undated: dates.length - known.length });
      const { newest = '', median = '' } = other ?? {};
      if (known.length === 0) expect({ newest, median }).toEqual({ newest: '', median: '' });
      expect(known.filter((each) => each < median).length).toBeLessThanOrEqual(known.length / 2);
      expect(known.filter((each) => each > median).length).toBeLessThanOrEqual(known.length / 2);
      expect(known.every((each) => each <= newest)).toBe(true);
    }),
  );
});

describe('a catalogue', () => {
  let nats: TestServer;
  let catalog: RunningCatalog;
  const database = `test_catalog_${randomBytes(6).toString('hex')}`;

  beforeAll(async () => {
    nats = await startTestNats();
    catalog = await startCatalog({ mongodbUrl: inject('mongodbUrl'), natsUrl: nats.url, database });
    const dated = (date: string) => ({ sources: [{ name: 'A', date }] });
    await catalog.put('mine', [
      stockOf('acme', 'ACME@XNAS', dated('2026-01-02')),
      brandOf('globex', dated('2025-12-01')),
      brandOf('initech', dated('2024')),
      brandOf('hooli'),
    ]);
    const stock = Stock.fromPartial({ price: 1, currency: 'USD' });
    const source = Source.fromPartial({ name: 'B', date: '2026-01-05' });
    await catalog.quote('market-data', [{ symbol: 'ACME', mic: 'XNAS', stock, source }]);
  });

  afterAll(async () => {
    await catalog?.stop();
    await nats?.stop();
    const client = await new MongoClient(inject('mongodbUrl')).connect();
    await client.db(database).dropDatabase();
    await client.close();
  });

  const days = (newest: string, median = newest) => ({ newest, median });

  test('tells how old the facts of each source are, and not how long ago they were imported', async () => {
    const { sources } = await catalog.operate(catalog.admin.getStatistics, {});
    expect(sources).toMatchObject([
      {
        source: 'market-data',
        newestPrice: '2026-01-05',
        factAges: [{ fields: 'stock', records: 1, undated: 0, ...days('2026-01-05') }],
      },
      {
        source: 'mine',
        newestPrice: '',
        factAges: [{ fields: '', records: 3, undated: 0, ...days('2026-01-02', '2025-12-01') }],
      },
    ]);
  });

  test('shows as metrics how the last import of each source ended, and when the next one is due', async () => {
    const shown = async () =>
      (await catalog.metrics()).split('\n').filter((line) => /^catalog_import.*wikidata/.test(line));
    const note = (importId: string, run: Partial<NoteImportRequest>) =>
      catalog.operate(catalog.admin.noteImport, {
        source: 'wikidata',
        importId,
        outcome: ImportOutcome.UNSPECIFIED,
        reasons: [],
        ...run,
      });
    const outcome = (of: string) =>
      expect.stringMatching(new RegExp(`^catalog_import_outcome\\{.*"${of}".*\\} 1$`));
    const due = (seconds: number) =>
      expect.stringMatching(new RegExp(`^catalog_import_due_.*\\} ${seconds}$`));
    await catalog.put('wikidata', [brandOf('q1')], '2026-01-01T00:00:00.000Z-a');
    await catalog.operate(catalog.admin.finishImport, {
      source: 'wikidata',
      importId: '2026-01-01T00:00:00.000Z-a',
      prune: false,
    });
    await expect.poll(shown, { timeout: 30_000 }).toEqual([outcome('finished')]);
    await note('2026-01-01T00:00:00.000Z-a', { nextDueAtMs: 2e12 });
    await expect.poll(shown, { timeout: 30_000 }).toEqual([outcome('finished'), due(2e9)]);
    const reasons = ['half of its records are gone'];
    await note('2026-01-02T00:00:00.000Z-b', { outcome: ImportOutcome.STOPPED, reasons, nextDueAtMs: 1e12 });
    await expect.poll(shown, { timeout: 30_000 }).toEqual([outcome('stopped'), due(1e9)]);
    // The next sync finds that the source has again what it had.
    await note('2026-01-01T00:00:00.000Z-a', { nextDueAtMs: 3e12 });
    await expect.poll(shown, { timeout: 30_000 }).toEqual([outcome('finished'), due(3e9)]);
  });

  test('goes on to show a monthly source that is overdue, although its last import is longer ago than metrics remember', async () => {
    const [heard, wasDue] = [new Date(Date.now() - 32 * DAY_MS), new Date(Date.now() - DAY_MS)];
    const importId = '2026-01-01T00:00:00.000Z-m';
    await catalog.put('monthly', [brandOf('m1')], importId);
    await catalog.operate(catalog.admin.finishImport, { source: 'monthly', importId, prune: false });
    const client = await new MongoClient(inject('mongodbUrl')).connect();
    const imports = client.db(database).collection('imports');
    await imports.updateMany({ source: 'monthly' }, { $set: { lastAt: heard, nextDueAt: wasDue } });
    await client.close();
    const overdue = `catalog_import_due_timestamp_seconds{source="monthly"`;
    await expect.poll(() => catalog.metrics(), { timeout: 30_000 }).toContain(overdue);
    // The end of an import forgets old runs, and not this one.
    await catalog.operate(catalog.admin.finishImport, { source: 'mine', importId: 'any', prune: false });
    const { runs } = await catalog.operate(catalog.admin.listImports, { source: 'monthly', importId: '' });
    expect(runs.map((each) => each.importId)).toEqual([importId]);
  });

  test('is counted although its ages cannot be read', async () => {
    const client = new MongoClient(inject('mongodbUrl'));
    const spoilt = { _id: 'spoilt' as never, keys: [], contributions: [{ source: 'mine', id: 'spoilt' }] };
    const brands = client.db(database).collection('brands');
    await brands.insertOne({ ...spoilt, brand: Buffer.from('no message') });
    const { sources } = await catalog.operate(catalog.admin.getStatistics, {});
    await brands.deleteOne({ _id: spoilt._id });
    await client.close();
    expect(sources).toContainEqual(
      expect.objectContaining({ source: 'mine', factAges: [], newestPrice: '' }),
    );
  });

  test('shows these ages as metrics without being asked for statistics', async () => {
    const client = await new MongoClient(inject('mongodbUrl')).connect();
    await client
      .db(database)
      .collection('sources')
      .updateMany({}, { $unset: { ages: 1, measuredAt: 1 } });
    await client.close();
    const value = async (series: string) => {
      const [, found] =
        (await catalog.metrics())
          .split('\n')
          .find((line) => line.startsWith(series))
          ?.split('} ') ?? [];
      return Number(found);
    };
    const ofMine = 'catalog_facts_age_seconds{source="mine",fields="other",of="median"';
    const seconds = (day: string) => (Date.now() - Date.parse(day)) / 1_000;
    await expect.poll(() => value(ofMine), { timeout: 30_000 }).toBeGreaterThan(0);
    expect(Math.abs((await value(ofMine)) - seconds('2025-12-01'))).toBeLessThan(600);
    const before = tradingDaysSince('2026-01-05', Date.now());
    const shown = await value('catalog_price_age_trading_sessions{source="market-data"');
    expect([before, tradingDaysSince('2026-01-05', Date.now())]).toContain(shown);
  });
});
