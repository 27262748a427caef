import { linkOf, memoized } from '@brand-data/catalog/src/linkage/clustering.ts';
import type { PutConflict } from '@brand-data/catalog/src/linkage/conflicts.ts';
import { planChange } from '@brand-data/catalog/src/linkage/plan.ts';
import type { PutRefusedLink } from '@brand-data/catalog/src/linkage/refused-links.ts';
import {
  type Answer,
  answerOf,
  byEntry,
  type CandidateRecord,
  candidateFromDoc,
  leadingQuery,
  mayLead,
  readQueries,
  withLeadingWords,
} from '@brand-data/catalog/src/lookup/answers.ts';
import { RECORDS_OF_ENTRY, suggester } from '@brand-data/catalog/src/lookup/suggestions.ts';
import {
  type CatalogDoc,
  compareDocs,
  isOtherSecurity,
  LINK_ONLY,
} from '@brand-data/catalog/src/records/catalog-doc.ts';
import { sourceRecordOf } from '@brand-data/catalog/src/records/source-record.ts';
import {
  collectAffectedRecords,
  HOT_KEY_DOCS,
  type KeySearch,
} from '@brand-data/catalog/src/storage/affected-records.ts';
import type { Brand, Match, Suggestion } from '@brand-data/contracts';
import { problemsOf, refusalOf } from '@brand-data/records';
import { createLogger } from '@brand-data/runtime';

/** As many records as an import sends at once. */
const BATCH = 500;
/** The best records of an entry that a look-up reads. */
const PER_ENTRY = 20;

/** What an identifier means. */
interface Meaning {
  readonly brand: Brand;
  readonly match: Match;
}

interface PutReport {
  created: number;
  changed: number;
  unchanged: number;
  refused: { id: string; reason: string }[];
  conflicts: PutConflict[];
  refusedLinks: PutRefusedLink[];
}

/**
 * A catalogue in memory. It links, merges and looks up by the catalogue service's own code, and replaces only MongoDB. A whole
 * catalogue can therefore be examined in minutes.
 */
export class MemoryCatalogue {
  readonly #docs = new Map<string, CatalogDoc>();
  readonly #byKey = new Map<string, Set<CatalogDoc>>();
  readonly #suggest = suggester(
    { log: createLogger('quality', 'warn') },
    {
      findSimilar: async (entries) =>
        [...new Set(entries.flatMap((entry) => this.#bestOf(entry, RECORDS_OF_ENTRY)))].map((doc) => ({
          id: doc._id,
          rank: doc.rank,
          keys: doc.keys,
        })),
      findCandidates: async (entries) => this.#candidatesOf(entries),
      withinMs: 60_000,
    },
  );
  #imports = 0;

  /** Puts a source's brands in batches, as an import does. */
  async put(source: string, brands: AsyncIterable<Brand> | Iterable<Brand>): Promise<PutReport> {
    this.#imports += 1;
    const importId = String(this.#imports).padStart(6, '0');
    const report: PutReport = {
      created: 0,
      changed: 0,
      unchanged: 0,
      refused: [],
      conflicts: [],
      refusedLinks: [],
    };
    let batch: Brand[] = [];
    for await (const brand of brands) {
      batch.push(brand);
      if (batch.length < BATCH) continue;
      await this.#putBatch(source, importId, batch, report);
      batch = [];
    }
    if (batch.length > 0) await this.#putBatch(source, importId, batch, report);
    return report;
  }

  /** Returns what the identifier means, then what else it could mean, at most `most`. */
  resolve(identifier: string, { superinvestors = true, most = 1 } = {}): readonly Meaning[] {
    return this.answer(identifier, { superinvestors, most }).meanings;
  }

  /** Returns the same, or what the identifier means that is no company. */
  answer(identifier: string, { superinvestors = true, most = 1 } = {}): Answer {
    const [query] = readQueries([{ identifier, superinvestors }]);
    if (query === undefined) return { meanings: [] };
    const answer = answerOf(query, byEntry(this.#candidatesOf(query.entries)), most);
    if (!mayLead(answer)) return answer;
    const leading = leadingQuery(query);
    return withLeadingWords(answer, leading, byEntry(this.#candidatesOf(leading.entries)), most);
  }

  /** Returns what to suggest for an identifier that resolves to nothing. */
  async suggest(identifier: string, { superinvestors = true } = {}): Promise<Suggestion[]> {
    const [suggested] = await this.#suggest([{ identifier, superinvestors, suggest: true }]);
    return suggested?.suggestions ?? [];
  }

  /** Returns the documents of companies. */
  docs(): Iterable<CatalogDoc> {
    return this.#docs.values().filter(({ _id }) => !isOtherSecurity(_id));
  }

  #store(doc: CatalogDoc): void {
    this.#docs.set(doc._id, doc);
    for (const key of doc.keys) {
      this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(doc));
    }
  }

  #remove(doc: CatalogDoc): void {
    this.#docs.delete(doc._id);
    for (const key of doc.keys) this.#byKey.get(key)?.delete(doc);
  }

  async #search(keys: readonly string[]): Promise<KeySearch> {
    const isHot = (key: string) => (this.#byKey.get(key)?.size ?? 0) > HOT_KEY_DOCS;
    const all = keys.flatMap((key) => [key, LINK_ONLY + key]);
    const { hotKeys = [], searched = [] } = Object.groupBy(all, (key) =>
      isHot(key) ? 'hotKeys' : 'searched',
    );
    const found = new Set(searched.flatMap((key) => [...(this.#byKey.get(key) ?? [])]));
    return { docs: [...found], keys: searched, hotKeys };
  }

  async #putBatch(source: string, importId: string, brands: readonly Brand[], report: PutReport) {
    const puts = brands.flatMap((brand) => {
      const record = sourceRecordOf(source, importId, brand);
      const reason = refusalOf(problemsOf(brand, record.bytes.length));
      if (reason === undefined) return [record];
      report.refused.push({ id: brand.id, reason });
      return [];
    });
    const link = memoized(linkOf);
    const { stored, groups, hotKeys } = await collectAffectedRecords({ puts }, [], {
      search: (keys) => this.#search(keys),
      linkOf: link,
      yieldIfLong: async () => {},
    });
    const steps = planChange({ puts }, stored, groups, { linkOf: link, hotKeys });
    let step = steps.next();
    while (!step.done) step = steps.next();
    for (const write of step.value.writes.flat()) {
      if ('before' in write) this.#remove(write.before);
      if ('doc' in write) this.#store(write.doc);
    }
    for (const [reference, outcome] of step.value.outcomes) {
      if (typeof outcome === 'object') report.refused.push({ id: reference, reason: outcome.refused });
      else if (outcome !== 'alone') report[outcome] += 1;
    }
    report.conflicts.push(...step.value.conflicts);
    report.refusedLinks.push(...step.value.refusedLinks);
  }

  #bestOf(entry: string, most: number): CatalogDoc[] {
    return [...(this.#byKey.get(entry) ?? [])].sort(compareDocs).slice(0, most);
  }

  #candidatesOf(entries: readonly string[]): CandidateRecord[] {
    const wanted = new Set(entries);
    const found = new Set(entries.flatMap((entry) => this.#bestOf(entry, PER_ENTRY)));
    // Without the times of its changes, a catalogue's answers are those of every other one with the same records.
    return [...found].map(({ changedAt: _, ...doc }) => candidateFromDoc(doc, wanted));
  }
}
