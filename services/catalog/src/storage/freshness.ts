import { Brand } from '@brand-data/contracts';
import { gaugesAtScrape, type Sample, type Service } from '@brand-data/runtime';
import { type CatalogDoc, partsOf } from '../records/catalog-doc.ts';
import { ageOfDay, agesOf, type SourceAges, tradingDaysSince } from '../records/fact-ages.ts';
import { cooperativeYield } from './change-loop.ts';
import { type Collections, holdersOf, type SourceDoc } from './collections.ts';

/** Companies that are taken at random. They give the age in the middle of a large source to some percent. */
const SAMPLE = 5_000;
/** Of a source with fewer companies among these, so many are read instead. */
const OF_SMALL_SOURCE = 200;
const READ_MS = 20_000;
/** Of more sources, metrics show some. */
const MOST_SHOWN = 100;
const MEASURED_EVERY_MS = 3_600_000;

/** Reads how old the facts of each source are, by the name of the source, and keeps that for the metrics. */
export type MeasureAges = () => Promise<ReadonlyMap<string, SourceAges>>;

/**
 * Shows as metrics how old the facts are. A scrape reads what was measured last. If that is older than an hour, one of the
 * replicas measures anew, after the scrape.
 */
export function startFreshness(service: Service, { companies, sources }: Collections): MeasureAges {
  const measure: MeasureAges = async () => {
    const known = await sources.find({}, { projection: { _id: 1 }, maxTimeMS: READ_MS }).toArray();
    const names = known.map(({ _id }) => _id);
    const measured = await readAges(companies, names);
    for (const [_id, ages] of measured)
      await sources.updateOne({ _id }, { $set: { ages, measuredAt: new Date() } });
    return measured;
  };
  const measureIfOld = async () => {
    const now = Date.now();
    const old = { measuredAt: { $not: { $gte: new Date(now - MEASURED_EVERY_MS) } } };
    // Of several replicas that are scraped at once, one finds documents that it can claim.
    const { modifiedCount } = await sources.updateMany(old, { $set: { measuredAt: new Date(now) } });
    if (modifiedCount > 0) await measure();
  };
  const read = () => sources.find({}, { limit: MOST_SHOWN, maxTimeMS: READ_MS }).toArray();
  const afterScrape = () => {
    measureIfOld().catch(({ message }: Error) => {
      if (!service.signal.aborted) service.log.warn({ err: { message } }, 'ages could not be measured');
    });
  };
  registerGauges(service, () => read().finally(afterScrape));
  return measure;
}

/** Takes a sample of bounded size, however large the catalogue is. */
async function readAges(companies: Collections['companies'], names: readonly string[]) {
  const projection = { contributions: 1, parts: 1, brand: 1 } as const;
  const yieldIfLong = cooperativeYield(undefined);
  const sampling = [{ $sample: { size: SAMPLE } }, { $project: projection }];
  const sampled = await companies.aggregate<CatalogDoc>(sampling, { maxTimeMS: READ_MS }).toArray();
  const ages = new Map<string, SourceAges>();
  for (const source of names) {
    let docs = sampled.filter((doc) => doc.contributions.some((mark) => mark.source === source));
    const few = { maxTimeMS: READ_MS, limit: OF_SMALL_SOURCE, projection };
    if (docs.length < OF_SMALL_SOURCE) docs = await companies.find(holdersOf({ source }), few).toArray();
    const records: { brand: Brand; isQuote: boolean }[] = [];
    for (const doc of docs) {
      await yieldIfLong();
      for (const part of partsOf(doc))
        if (part.source === source && !part.overrides)
          records.push({ brand: Brand.decode(part.bytes), isQuote: part.quote ?? false });
    }
    ages.set(source, agesOf(records));
  }
  return ages;
}

function registerGauges({ metrics }: Service, read: () => Promise<SourceDoc[]>): void {
  const ofEach = (samplesOf: (doc: SourceDoc) => Sample[]) => (docs: SourceDoc[]) => docs.flatMap(samplesOf);
  gaugesAtScrape(metrics, read, [
    {
      name: 'catalog_facts_age_seconds',
      help: 'How old a source says that its facts are: "newest" and "median". `fields`: a group that it dates apart, or "other"',
      labelNames: ['source', 'fields', 'of'],
      samplesOf: ofEach(({ _id: source, ages }) =>
        (ages?.facts ?? []).flatMap(({ fields, newest, median }): Sample[] => {
          if (newest === '') return [];
          const about = { source, fields: fields || 'other' };
          return [
            [{ ...about, of: 'newest' }, ageOfDay(newest, Date.now())],
            [{ ...about, of: 'median' }, ageOfDay(median, Date.now())],
          ];
        }),
      ),
    },
    {
      name: 'catalog_price_age_trading_sessions',
      help: "Mondays to Fridays since the day of a source's newest price",
      labelNames: ['source'],
      samplesOf: ofEach(({ _id: source, ages }) =>
        ages?.newestPrice ? [[{ source }, tradingDaysSince(ages.newestPrice, Date.now())]] : [],
      ),
    },
  ]);
}
