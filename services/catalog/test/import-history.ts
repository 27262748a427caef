import {
  Brand,
  type ExportedCompany,
  ImportOutcome,
  NoteImportRequest,
  Override,
  Quote,
} from '@brand-data/contracts';
import { callServerStream, callUnary } from '@brand-data/runtime';
import fc from 'fast-check';
import type { Db } from 'mongodb';
import { OPERATOR_TOKEN, type RunningCatalog } from './running-catalog.ts';
import { SOURCES, someBrand } from './some-records.ts';

const IDENTIFIERS = ['Acme', 'Acme Inc.', 'Globex', 'Initech', 'ACME', 'GLBX', 'XETR:ACME', 'acme.com'];
const ISINS = ['US0378331005', 'GB0002634946', 'CH0038863350'];
const IN_BATCH = 2;

/** One run of an import: of records, or of prices if the source is "prices". */
export interface SomeRun {
  source: string;
  brands: Brand[];
  prices: number[];
  prune: boolean;
}

const someRunOf = (sources: readonly string[]): fc.Arbitrary<SomeRun> =>
  fc.record({
    source: fc.constantFrom(...sources),
    brands: fc.uniqueArray(someBrand, { minLength: 1, maxLength: 6, selector: ({ id }) => id }),
    prices: fc.uniqueArray(fc.integer({ min: 10, max: 99 }), { minLength: 2, maxLength: 2 }),
    prune: fc.boolean(),
  });

export const someRun = someRunOf([...SOURCES, 'prices']);
export const someRuns = fc.array(someRun, { minLength: 1, maxLength: 5 });
/** Runs of the sources of records only. */
export const someRecordRuns = fc.array(someRunOf(SOURCES), { minLength: 1, maxLength: 3 });
/** The ids of records whose operator sets a field. */
export const someEdits = fc.uniqueArray(fc.constantFrom('acme', 'globex', 'q1', 'x1'), { maxLength: 2 });

/** After how many steps a run is killed, and after how many milliseconds its next step is, if not before it. */
export const someKill = fc.record({
  steps: fc.nat(4),
  withinMs: fc.option(fc.integer({ min: 1, max: 25 }), { nil: undefined }),
});
export type Kill = { steps: number; withinMs?: number | undefined };

/** Runs imports against a catalog, as bds does. Import ids sort by time. */
export function importHistory(catalogOf: () => RunningCatalog) {
  let number = 0;

  /** Runs the import until its end, or until it is killed. Returns its id. */
  async function run({ source, brands, prices, prune }: SomeRun, kill?: Kill): Promise<string> {
    const importId = `run-${String(++number).padStart(6, '0')}`;
    const { admin } = catalogOf();
    const request = { source, importId, dryRun: false };
    const batches = Array.from({ length: Math.ceil(brands.length / IN_BATCH) }, (_, index) =>
      brands.slice(index * IN_BATCH, (index + 1) * IN_BATCH),
    );
    const quotes = ['ACME', 'GLBX'].map((symbol, index) =>
      Quote.fromPartial({ symbol, mic: 'XNAS', stock: { price: prices[index] ?? 1, currency: 'USD' } }),
    );
    const puts: ((deadlineMs: number) => Promise<unknown>)[] =
      source === 'prices'
        ? quotes.map(
            (quote) => (deadlineMs) => call(admin.putQuotes, { ...request, quotes: [quote] }, deadlineMs),
          )
        : batches.map(
            (batch) => (deadlineMs) =>
              call(admin.putBrands, { ...request, onlyJoining: false, brands: batch }, deadlineMs),
          );
    const finish = (deadlineMs: number) => call(admin.finishImport, { source, importId, prune }, deadlineMs);
    const steps = [...puts, finish];
    const left = kill === undefined ? steps.length : Math.min(kill.steps, steps.length);
    for (const step of steps.slice(0, left)) await step(20_000);
    const next = steps[left];
    // The catalogue may or may not have written something by then.
    if (kill?.withinMs !== undefined) await next?.(kill.withinMs).catch(() => undefined);
    return importId;
  }

  /** Undoes a run. Returns the answers of its steps. */
  async function undo(source: string, importId: string) {
    const { admin } = catalogOf();
    // A batch of a killed run may still be on its way. Catalog can refuse it after the undoing only if it knows the run.
    if ((await call(admin.listImports, { source, importId })).runs.length === 0)
      await call(
        admin.noteImport,
        NoteImportRequest.fromPartial({ source, importId, outcome: ImportOutcome.FAILED }),
      );
    const answers = [];
    for (let after = ''; ; ) {
      const answer = await call(admin.undoImport, { source, importId, dryRun: false, after });
      answers.push(answer);
      after = answer.after;
      if (!answer.more) return answers;
    }
  }

  async function setFields(ids: readonly string[]): Promise<void> {
    const { admin } = catalogOf();
    const value = Brand.fromPartial({ description: 'The operator says so.' });
    const settings = ids.map((id) => {
      return { id, override: Override.fromPartial({ field: 'description', value, reason: 'because' }) };
    });
    await call(admin.setFields, { settings, dryRun: false });
  }

  /** Returns all records as they are stored, and what look-ups answer, without the ids of imports and the times of changes. */
  async function contents() {
    const { admin, lookup } = catalogOf();
    const options = { deadlineMs: 20_000, operatorToken: OPERATOR_TOKEN };
    const companies: ExportedCompany[] = [];
    for await (const message of callServerStream(admin, admin.exportCompanies, { after: '' }, options))
      companies.push(...message.companies);
    return {
      companies: companies.map(({ changedAtMs: _, records, ...company }) => ({
        ...company,
        records: records.map(({ importId: _, ...record }) => record),
      })),
      answers: (await lookup(...IDENTIFIERS, ...ISINS)).map(({ changedAtMs: _, ...answer }) => answer),
    };
  }

  /** Returns the contents without the ids of companies, which depend on the history. */
  async function facts(): Promise<object[]> {
    const { companies } = await contents();
    return companies
      .map(({ id: _, ...company }) => company)
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }

  /** Calls an operator's method. */
  function call<Request, Response>(
    method: Parameters<typeof callUnary<Request, Response>>[1],
    request: Request,
    deadlineMs = 20_000,
  ): Promise<Response> {
    return callUnary(catalogOf().admin, method, request, { deadlineMs, operatorToken: OPERATOR_TOKEN });
  }

  return { run, undo, setFields, contents, facts, call };
}

export async function emptyDatabase(db: Db): Promise<void> {
  for (const name of ['brands', 'imports', 'import_changes']) await db.collection(name).deleteMany({});
}
