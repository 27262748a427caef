import { Brand, Override } from '@brand-data/contracts';
import { brandOfField } from '@brand-data/records';
import { decide, type LinkDecision } from '../src/linkage/decide.ts';
import { editOverrides, type FieldEdit, type FieldOutcome } from '../src/linkage/edit-overrides.ts';
import {
  type Change,
  linkedGroups,
  type StoredCompany,
  storedCompanyFromDoc,
} from '../src/linkage/linked-groups.ts';
import { type Plan, planChange } from '../src/linkage/plan.ts';
import { type CatalogDoc, isWaiting } from '../src/records/catalog-doc.ts';
import { isDecision } from '../src/records/override-record.ts';
import { referenceOf, type SourceRecord, sourceRecordOf } from '../src/records/source-record.ts';

/** A catalogue in memory, with all changes planned by the service's own code. */
export class Catalogue {
  readonly docs = new Map<string, CatalogDoc>();
  #clock = 0;

  get stored(): Map<string, StoredCompany> {
    return new Map([...this.docs].map(([id, doc]) => [id, storedCompanyFromDoc(doc)]));
  }

  apply(change: Change): Plan {
    const { stored } = this;
    const steps = planChange(change, stored, linkedGroups(change, stored.values()));
    let step = steps.next();
    while (!step.done) step = steps.next();
    const writes = step.value.writes.flat();
    for (const write of writes) if ('before' in write) this.docs.delete(write.before._id);
    for (const write of writes) if ('doc' in write) this.docs.set(write.doc._id, write.doc);
    return step.value;
  }

  put(source: string, brands: readonly Brand[], importId = 'run'): Plan {
    return this.apply({ puts: brands.map((brand) => sourceRecordOf(source, importId, brand)) });
  }

  remove(...references: string[]): void {
    this.apply({ puts: [], isRemoved: (record) => references.includes(referenceOf(record)) });
  }

  edit(...edits: FieldEdit[]): readonly FieldOutcome[] {
    const { change, outcomes } = editOverrides([...this.stored.values()], edits);
    this.apply(change);
    return outcomes;
  }

  /** Sets a field. A value of undefined means that the field has no value. */
  set(id: string, field: string, value: unknown, reason = 'because'): FieldOutcome | undefined {
    this.#clock++;
    const override = Override.fromPartial({ field, by: 'ada', reason, atMs: this.#clock });
    return this.edit({
      id,
      field,
      override: { ...override, ...(value !== undefined && brandOfValue(field, value)) },
    })[0];
  }

  unset(id: string, field: string): FieldOutcome | undefined {
    return this.edit({ id, field })[0];
  }

  /** Makes a decision about source records: JOINED or SEPARATED. */
  decide(field: string, names: readonly string[], { undo = false, reason = 'because' } = {}): FieldOutcome {
    this.#clock++;
    const decision = Override.fromPartial({ field, by: 'ada', reason, atMs: this.#clock });
    const request: LinkDecision = { decision, names, undo };
    const { change, outcome } = decide([...this.stored.values()], request, `decision-${this.#clock}`);
    const { outcomes } = this.apply(change);
    const put = change.puts[0] && outcomes.get(referenceOf(change.puts[0]));
    return typeof put === 'object' ? put : outcome;
  }

  get decisions(): SourceRecord[] {
    return this.records.filter((record) => isDecision(record));
  }

  brand(id: string): Brand | undefined {
    const doc = this.docs.get(id);
    return doc && Brand.decode(doc.brand);
  }

  get waiting(): string[] {
    return [...this.docs.values()]
      .filter(isWaiting)
      .flatMap((doc) => storedCompanyFromDoc(doc).records.map(({ brand }) => brand.id));
  }

  get records(): SourceRecord[] {
    return [...this.stored.values()].flatMap(({ records }) => records);
  }

  /** The documents without their revisions, times and imports. */
  get contents() {
    return [...this.docs.values()]
      .map(({ revision, changedAt, contributions, ...doc }) => ({
        ...doc,
        contributions: contributions.map(referenceOf),
      }))
      .sort((a, b) => (a._id < b._id ? -1 : 1));
  }

  /** Returns `contents` without the companies' ids, which depend on the catalogue's history. */
  get contentsWithoutIds() {
    return this.contents
      .map(({ _id, brand, ...doc }) => ({ ...doc, brand: { ...Brand.decode(brand), id: '' } }))
      .sort((a, b) => (String(a.contributions) < String(b.contributions) ? -1 : 1));
  }

  /** Whether a look-up of this key finds the record. */
  isFoundBy(id: string, key: string): boolean {
    return this.docs.get(id)?.keys.includes(key) ?? false;
  }
}

/** Returns a new catalogue to which all records and overrides of another one came at once, after its decisions. */
export function atOnce({ decisions, records }: Catalogue): Catalogue {
  const catalogue = new Catalogue();
  // A decision that contradicts others is refused only if the records are there.
  catalogue.apply({ puts: decisions });
  catalogue.apply({ puts: records.filter((record) => !isDecision(record)) });
  return catalogue;
}

export function brandOfValue(field: string, value: unknown): { value: Brand } {
  const made = brandOfField(field, value);
  if ('problem' in made) throw new Error(made.problem);
  return { value: made.brand };
}
