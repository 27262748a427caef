import { JOINED, SEPARATED } from '@brand-data/records';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { restoredDoc } from '../src/linkage/companies.ts';
import { isOtherSecurity, isWaiting, sourceRecordsFromDoc } from '../src/records/catalog-doc.ts';
import { referenceOf } from '../src/records/source-record.ts';
import { atOnce, Catalogue } from './planned-catalogue.ts';
import { SOURCES, someBrand } from './some-records.ts';

/** A catalogue's history: imports, which may prune the source's other records, and decisions that are made and taken back. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        source: fc.constantFrom(...SOURCES),
        brands: fc.uniqueArray(someBrand, { maxLength: 4, selector: ({ id }) => id }),
        prune: fc.boolean(),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        field: fc.constantFrom(JOINED, SEPARATED),
        records: fc.tuple(fc.nat(9), fc.nat(9)),
        areCompanies: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ undone: fc.nat(5) }) },
  ),
  { maxLength: 14 },
);
type Step = typeof steps extends fc.Arbitrary<(infer Item)[]> ? Item : never;

function lived(history: readonly Step[], afterStep: (catalogue: Catalogue) => void = () => {}) {
  const catalogue = new Catalogue();
  for (const [run, step] of history.entries()) {
    const importId = `run-${String(run).padStart(3, '0')}`;
    if ('source' in step) {
      const { source, brands, prune } = step;
      catalogue.put(source, brands, importId);
      if (prune)
        catalogue.apply({
          puts: [],
          isRemoved: (record) => record.source === source && record.importId < importId,
        });
    } else if ('undone' in step) {
      undo(catalogue, step.undone);
    } else {
      const names =
        step.areCompanies && step.field === JOINED ? companiesIn(catalogue) : recordsIn(catalogue);
      const meant = step.records.map((index) => names[index % Math.max(1, names.length)] ?? 'nothing');
      const before = catalogue.contents;
      const outcome = catalogue.decide(step.field, step.field === JOINED ? meant : meant.slice(0, 1));
      if (typeof outcome === 'object') expect(catalogue.contents).toEqual(before);
    }
    afterStep(catalogue);
  }
  return catalogue;
}

const companiesIn = ({ docs }: Catalogue) => [...docs.keys()].filter((id) => !id.includes(':')).sort();

const recordsIn = ({ records }: Catalogue) =>
  records
    .filter(({ overrides }) => overrides === undefined)
    .map(referenceOf)
    .sort();

function undo(catalogue: Catalogue, index: number): void {
  const { decisions } = catalogue;
  const decision = decisions[index % Math.max(1, decisions.length)];
  const names = (decision?.overrides?.records ?? []).map(referenceOf);
  const field = decision?.overrides?.overrides[0]?.field ?? JOINED;
  const [first = 'none', last = 'none'] = [names[0], names.at(-1)];
  const outcome = catalogue.decide(field, field === JOINED ? [first, last] : [first], { undo: true });
  expect(outcome).toBe(decision === undefined ? 'unchanged' : 'changed');
}

/** The company of each source record. */
function companyOf(catalogue: Catalogue): Map<string, string> {
  return new Map(
    [...catalogue.docs.values()].flatMap(({ _id, contributions }) =>
      isWaiting({ _id }) || isOtherSecurity(_id)
        ? []
        : contributions.map((mark) => [referenceOf(mark), _id] as const),
    ),
  );
}

test('after any order of imports, prunes and decisions the catalogue is as if all records and decisions were put at once', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const catalogue = lived(history);
      expect(catalogue.contentsWithoutIds).toEqual(atOnce(catalogue).contentsWithoutIds);
    }),
    { numRuns: 200 },
  );
});

test('a catalogue whose decisions are all taken back is the one in which none was ever made', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const catalogue = lived(history);
      while (catalogue.decisions.length > 0) undo(catalogue, 0);
      const never = lived(history.filter((step) => 'source' in step));
      expect(catalogue.contentsWithoutIds).toEqual(never.contentsWithoutIds);
    }),
    { numRuns: 200 },
  );
});

test('over all imports separated records are in no company with the others, and joined ones in one unless others are separated', () => {
  fc.assert(
    fc.property(steps, (history) => {
      lived(history, (catalogue) => {
        const companies = companyOf(catalogue);
        const isSeparating = catalogue.decisions.some(
          ({ overrides }) => overrides?.overrides[0]?.field === SEPARATED,
        );
        for (const { overrides } of catalogue.decisions) {
          const [first, ...others] = (overrides?.records ?? []).map((each) =>
            companies.get(referenceOf(each)),
          );
          const present = others.filter((id) => id !== undefined);
          if (overrides?.overrides[0]?.field === SEPARATED) {
            if (first !== undefined) expect(present).not.toContain(first);
          } else if (!isSeparating)
            expect(new Set([...present, ...(first ? [first] : [])]).size).toBeLessThan(2);
        }
      });
    }),
    { numRuns: 200 },
  );
});

test('an export of a catalogue with decisions is restored as it was', () => {
  fc.assert(
    fc.property(steps, (history) => {
      for (const doc of lived(history).docs.values()) {
        const { revision: _, changedAt, ...stated } = doc;
        expect(restoredDoc(doc._id, sourceRecordsFromDoc(doc), changedAt)).toMatchObject(stated);
      }
    }),
    { numRuns: 200 },
  );
});

test('of two companies that are joined the first keeps its id, and both have theirs again when they are separated', () => {
  fc.assert(
    fc.property(steps, fc.nat(9), fc.nat(9), (history, first, second) => {
      const catalogue = lived(history);
      const hadDecisions = catalogue.decisions.length > 0;
      const ids = companiesIn(catalogue);
      const [one = '', other = ''] = [
        ids[first % Math.max(1, ids.length)],
        ids[second % Math.max(1, ids.length)],
      ];
      const [before, companies] = [catalogue.contentsWithoutIds, companyOf(catalogue)];
      const recordsOf = (id: string) => [...companies].flatMap(([record, of]) => (of === id ? [record] : []));
      if (one === other || catalogue.decide(JOINED, [one, other], { reason: 'these two' }) !== 'changed')
        return;
      const joined = companyOf(catalogue);
      for (const record of [...recordsOf(one), ...recordsOf(other)]) expect(joined.get(record)).toBe(one);
      expect(catalogue.decide(JOINED, [one, other], { undo: true })).toBe('changed');
      // An earlier decision about records with these ids is taken back too.
      if (hadDecisions) return;
      expect(catalogue.contentsWithoutIds).toEqual(before);
      const separated = companyOf(catalogue);
      // An id that the catalogue had made is made again only if it must be.
      for (const id of [one, other])
        for (const record of recordsOf(id))
          expect([id, id.replace(/^.*--/, '')]).toContain(separated.get(record));
    }),
    { numRuns: 300 },
  );
});

const LINKED = { name: 'Acme', links: { wikidataQid: 'Q1' } };

test.each([
  { field: JOINED, names: ['x1', 'q1'], facts: [{ name: 'Acme' }, { name: 'Globex' }] },
  { field: SEPARATED, names: ['q1'], facts: [LINKED, LINKED] },
])(
  'a decision ($field) of which all source records are gone is not taken for one about others with their ids',
  ({ field, names, facts }) => {
    const catalogue = new Catalogue();
    const bring = (...sources: string[]) => {
      for (const [index, id] of ['x1', 'q1'].entries())
        catalogue.put(sources[index] ?? '', [brandOf(id, { ...facts[index] })]);
    };
    const areOne = () => new Set(companyOf(catalogue).values()).size === 1;
    bring('sample', 'feed');
    expect(areOne()).toBe(field === SEPARATED);
    expect(catalogue.decide(field, names)).toBe('changed');
    expect(areOne()).toBe(field === JOINED);
    catalogue.remove('sample/x1', 'feed/q1');
    bring('gleif', 'wikidata');
    expect(areOne()).toBe(field === SEPARATED);
    expect(catalogue.decide(field, names)).toBe('changed');
    expect(areOne()).toBe(field === JOINED);
    expect(catalogue.decide(field, names)).toBe('unchanged');
    expect(catalogue.decisions).toHaveLength(2);
    // Nor is it taken back for the other one, but by the names of its records.
    expect(catalogue.decide(field, names, { undo: true })).toBe('changed');
    expect(areOne()).toBe(field === SEPARATED);
    expect(catalogue.decide(field, names, { undo: true })).toBe('unchanged');
    const gone = ['sample/x1', 'feed/q1'].filter((_, index) => index > 0 || field === JOINED);
    expect(catalogue.decide(field, gone, { undo: true })).toBe('changed');
    expect(catalogue.decisions).toHaveLength(0);
  },
);

test('a join that is not in force, because its records were separated while one was away, is not said to be so', () => {
  const catalogue = new Catalogue();
  const bring = () => catalogue.put('feed', [brandOf('q1', { name: 'Globex' })]);
  catalogue.put('sample', [brandOf('x1', LINKED)]);
  catalogue.put('gleif', [brandOf('y1', LINKED)]);
  bring();
  const [older, newer] = [
    ['sample/x1', 'feed/q1'],
    ['feed/q1', 'gleif/y1'],
  ];
  for (const names of [older, newer]) expect(catalogue.decide(JOINED, names)).toBe('changed');
  catalogue.remove('feed/q1');
  expect(catalogue.decide(SEPARATED, ['sample/x1'])).toBe('changed');
  bring();
  expect(catalogue.decide(JOINED, older)).toBe('unchanged');
  expect(catalogue.decide(JOINED, newer)).toEqual({ refused: expect.stringContaining('bds unseparate') });
});
