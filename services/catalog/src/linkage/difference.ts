import { Brand, CompanyDifference, CompanyFate, type ImportDifference } from '@brand-data/contracts';
import { changedFields } from '@brand-data/records';
import { type CatalogDoc, isOtherSecurity, isWaiting } from '../records/catalog-doc.ts';
import { referenceOf } from '../records/source-record.ts';
import type { Plan, RecordChange, Write } from './plan.ts';

const MOST_COMPANIES = 20;

/** What happens to one company. */
interface CompanyChange {
  readonly doc: CatalogDoc;
  readonly fate: CompanyFate;
  readonly otherId?: string;
  readonly fields?: readonly string[];
}

/** Gathers what the plans of one change do. Plans of the same change that repeat one another count once. */
export class Differences {
  readonly #records = new Map<string, RecordChange>();
  readonly #companies = new Map<string, CompanyChange>();

  /** Yields between groups, because comparing companies takes long. */
  *add({ changes }: Pick<Plan, 'changes'>): Generator<undefined, void> {
    for (const [writes, records] of changes) {
      yield;
      for (const change of records) {
        const reference = referenceOf(change);
        if (!this.#records.has(reference)) this.#records.set(reference, change);
      }
      for (const company of companyChanges(writes))
        this.#companies.set(`${company.fate} ${company.doc._id}`, company);
    }
  }

  toProto(): ImportDifference {
    const records = [...this.#records.values()];
    const companies = [...this.#companies.values()];
    const count = (wanted: CompanyFate) => companies.filter(({ fate }) => fate === wanted).length;
    const changedFields: Record<string, number> = {};
    for (const { fields = [] } of companies)
      for (const field of fields) changedFields[field] = (changedFields[field] ?? 0) + 1;
    return {
      recordsCreated: records.filter(({ before }) => !before).length,
      recordsChanged: records.filter(isContentChanged).length,
      recordsRemoved: records.filter(({ after }) => !after).length,
      companiesCreated: count(CompanyFate.CREATED),
      companiesChanged: count(CompanyFate.CHANGED),
      companiesRemoved: count(CompanyFate.REMOVED),
      companiesJoined: count(CompanyFate.JOINED),
      companiesSplit: count(CompanyFate.SPLIT),
      companiesRenamed: count(CompanyFate.RENAMED),
      changedFields,
      bestKnown: companies
        .sort((a, b) => b.doc.rank - a.doc.rank)
        .slice(0, MOST_COMPANIES)
        .map(companyToProto),
    };
  }
}

/** Checks whether the record stays and states something else. */
export function isContentChanged({ before, after }: RecordChange): boolean {
  return (
    before !== undefined && after !== undefined && Buffer.compare(before.record.bytes, after.bytes) !== 0
  );
}

function companyToProto({ doc, fate, otherId = '', fields = [] }: CompanyChange): CompanyDifference {
  const { name, rank } = Brand.decode(doc.brand);
  return CompanyDifference.create({ id: doc._id, name, rank, fate, otherId, fields: [...fields] });
}

/** Returns what the writes of one group of linked companies do to the companies. */
function companyChanges(writes: readonly Write[]): CompanyChange[] {
  const before = writes.flatMap((write) =>
    'before' in write && write.kind !== 'mark' && isCompany(write.before) ? write.before : [],
  );
  const after = writes.flatMap((write) =>
    'doc' in write && write.kind !== 'mark' && isCompany(write.doc) ? write.doc : [],
  );
  const [had, has] = [byId(before), byId(after)];
  const [heldBefore, heldAfter] = [holderOf(before), holderOf(after)];
  const gone = before.flatMap((doc): CompanyChange[] => {
    if (has.has(doc._id)) return [];
    const otherId = heirOf(doc, heldAfter);
    if (otherId === undefined) return [{ doc, fate: CompanyFate.REMOVED }];
    return [{ doc, fate: had.has(otherId) ? CompanyFate.JOINED : CompanyFate.RENAMED, otherId }];
  });
  const renamed = new Set(gone.flatMap(({ fate, otherId }) => (fate === CompanyFate.RENAMED ? otherId : [])));
  const present = after.flatMap((doc): CompanyChange[] => {
    const old = had.get(doc._id);
    if (old !== undefined) {
      const fields = fieldsBetween(old, doc);
      return fields.length === 0 ? [] : [{ doc, fate: CompanyFate.CHANGED, fields }];
    }
    const otherId = heirOf(doc, heldBefore);
    if (otherId === undefined) return [{ doc, fate: CompanyFate.CREATED }];
    return renamed.has(doc._id) ? [] : [{ doc, fate: CompanyFate.SPLIT, otherId }];
  });
  return [...gone, ...present];
}

function isCompany(doc: CatalogDoc): boolean {
  return !isWaiting(doc) && !isOtherSecurity(doc._id);
}

function byId(docs: readonly CatalogDoc[]): ReadonlyMap<string, CatalogDoc> {
  return new Map(docs.map((doc) => [doc._id, doc]));
}

function holderOf(docs: readonly CatalogDoc[]): ReadonlyMap<string, string> {
  return new Map(docs.flatMap((doc) => referencesIn(doc).map((reference) => [reference, doc._id] as const)));
}

/** Returns the company that holds the strongest of the document's source records that any company of `holders` holds. */
function heirOf(doc: CatalogDoc, holders: ReadonlyMap<string, string>): string | undefined {
  return referencesIn(doc)
    .map((reference) => holders.get(reference))
    .find((id) => id !== undefined);
}

function referencesIn({ contributions }: CatalogDoc): string[] {
  return contributions.filter(({ quote, overrides }) => !quote && !overrides).map(referenceOf);
}

function fieldsBetween(old: CatalogDoc, doc: CatalogDoc): string[] {
  if (Buffer.compare(old.brand, doc.brand) === 0) return [];
  return changedFields(Brand.decode(old.brand), Brand.decode(doc.brand));
}
