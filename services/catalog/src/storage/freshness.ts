import { Brand } from '@brand-data/contracts';
import { answerWithin, gaugesAtScrape, type Sample, type Service } from '@brand-data/runtime';
import { type CatalogDoc, partsOf } from '../records/catalog-doc.ts';
import { ageOfDay, agesOf, type SourceAges, tradingDaysSince } from '../records/fact-ages.ts';
import { cooperativeYield } from './change-loop.ts';
import { type Collections, holdersOf, type SourceDoc } from './collections.ts';
import type { RunDoc } from './import-runs.ts';

/** Companies that are taken at random. They give the age in the middle of a large source to some percent. */
const SAMPLE = 5_000;
/** Of a source with fewer companies among these, so many are read instead. */
const OF_SMALL_SOURCE = 200;
const READ_MS = 20_000;
/** Metrics forget a source so long after catalog last heard of its imports, or after the next one was due if that is later. */
const HEARD_WITHIN_MS = 30 * 86_400_000;
/** Of more sources, metrics show some. */
const MOST_SHOWN = 100;
const MEASURED_EVERY_MS = 3_600_000;
/** How long the answer with the counts waits for the ages. */
const ANSWERED_MS = 30_000;

/**
 * Reads how old the facts of each source are, by the name of the source, and keeps that for the metrics. Resolves to no ages if they
 * cannot be read in time.
 */
export type MeasureAges = () => Promise<ReadonlyMap<string, SourceAges>>;

/**
 * Shows as metrics how old the facts are, how each source's last import ended, and when its next one is due. A scrape reads what was
 * measured last. If that is older than an hour, one of the replicas measures anew, after the scrape.
 */
export function startFreshness(service: Service, { companies, sources, imports }: Collections): MeasureAges {
  const measure = async () => {
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
  const read = async () => ({
    sources: await sources.find({}, { limit: MOST_SHOWN, maxTimeMS: READ_MS }).toArray(),
    runs: await readLastRuns(imports),
  });
  const tell = ({ message }: Error) => {
    if (!service.signal.aborted) service.log.warn({ err: { message } }, 'ages could not be measured');
  };
  const afterScrape = () => void measureIfOld().catch(tell);
  registerGauges(service, () => read().finally(afterScrape));
  return async () => {
    try {
      return await answerWithin(measure(), {
        withinMs: ANSWERED_MS,
        detail: 'the ages of facts take too long',
      });
    } catch (error) {
      tell(error as Error);
      return new Map();
    }
  };
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

type LastRun = Pick<RunDoc, 'source' | 'outcome' | 'nextDueAt'>;

/**
 * Returns the run of each source of which catalog heard last, with the time that was said last. A sync that finds nothing new tells of
 * the run before, so that run is also the last one after a failure.
 */
async function readLastRuns(imports: Collections['imports']): Promise<LastRun[]> {
  const since = { $gt: new Date(Date.now() - HEARD_WITHIN_MS) };
  const heard = { $or: [{ lastAt: since }, { nextDueAt: since }] };
  const projection = { _id: 0, source: 1, outcome: 1, nextDueAt: 1 } as const;
  const options = { projection, sort: { lastAt: 1 }, maxTimeMS: READ_MS } as const;
  const last = new Map<string, LastRun>();
  for await (const run of imports.find<LastRun>(heard, options))
    last.set(run.source, { ...last.get(run.source), ...run });
  return [...last.values()].slice(0, MOST_SHOWN);
}

interface Facts {
  sources: SourceDoc[];
  runs: LastRun[];
}

function registerGauges({ metrics }: Service, read: () => Promise<Facts>): void {
  const ofSources = (samplesOf: (doc: SourceDoc) => Sample[]) => (facts: Facts) =>
    facts.sources.flatMap(samplesOf);
  const ofRuns = (samplesOf: (run: LastRun) => Sample[]) => (facts: Facts) => facts.runs.flatMap(samplesOf);
  gaugesAtScrape(metrics, read, [
    {
      name: 'catalog_facts_age_seconds',
      help: 'How old a source says that its facts are: "newest" and "median". `fields`: a group that it dates apart, or "other"',
      labelNames: ['source', 'fields', 'of'],
      samplesOf: ofSources(({ _id: source, ages }) =>
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
      samplesOf: ofSources(({ _id: source, ages }) =>
        ages?.newestPrice ? [[{ source }, tradingDaysSince(ages.newestPrice, Date.now())]] : [],
      ),
    },
    {
      name: 'catalog_import_outcome',
      help: 'Always 1, with the outcome of the last import of the source: "running", "finished", "failed", "stopped" by a guard, "undoing" or "undone"',
      labelNames: ['source', 'outcome'],
      samplesOf: ofRuns(({ source, outcome }) => [[{ source, outcome }, 1]]),
    },
    {
      name: 'catalog_import_due_timestamp_seconds',
      help: 'When the next sync of the source is due, in seconds since 1970; absent if nothing syncs it',
      labelNames: ['source'],
      samplesOf: ofRuns(({ source, nextDueAt }) =>
        nextDueAt ? [[{ source }, nextDueAt.getTime() / 1_000]] : [],
      ),
    },
  ]);
}
