import { setTimeout as delay } from 'node:timers/promises';
import {
  Brand,
  type CatalogAdminServiceServer,
  ImportDifference,
  ImportOutcome,
  type ListSourceRecordsResponse,
  type NoteImportRequest,
  type SourceRecordChange,
} from '@brand-data/contracts';
import { problemOfSource } from '@brand-data/records';
import { Fault, serverStream } from '@brand-data/runtime';
import { referenceOf } from '../records/source-record.ts';
import { runToProto } from '../storage/import-runs.ts';
import { isBroughtBy, type RunName } from '../storage/journal.ts';
import type { CatalogStore } from '../storage/store.ts';
import { refuseBadImport } from './import-calls.ts';
import { type AdminParts, operatorCall, SCAN_DEADLINE_MS } from './operator-calls.ts';

/** Time for one step of undoing. Well below the deadline that callers set. */
const UNDO_MS = 5_000;
/** How long a step waits whose run still writes. */
const WRITING_PAUSE_MS = 500;
const MOST_KEPT = 20;
const MOST_REASONS = 20;
const LONGEST_REASON = 500;
/** More than a difference has that names 20 companies with all their fields. */
const MOST_DIFFERENCE_BYTES = 1 << 18;
/** With how many entries a message is sent, and at how many bytes of them at the latest. */
const IN_MESSAGE = 500;
const MESSAGE_BYTES = 1 << 20;

const ENDS = {
  [ImportOutcome.UNSPECIFIED]: undefined,
  [ImportOutcome.FAILED]: 'failed',
  [ImportOutcome.STOPPED]: 'stopped',
} as const;

/** Returns the calls about import runs. */
export function runCalls(
  parts: AdminParts,
): Pick<
  CatalogAdminServiceServer,
  'noteImport' | 'listImports' | 'listImportChanges' | 'undoImport' | 'listSourceRecords'
> {
  const { service, store, runs, announcer } = parts;
  return {
    noteImport: operatorCall(parts, async (request, { operator }) => {
      await runs.note(request, operator, noteOf(request));
      return {};
    }),

    listImports: operatorCall(parts, async (request) => ({
      runs: (await runs.list(request)).map(runToProto),
    })),

    listImportChanges: serverStream(service, async function* (request) {
      const run = await runs.find(request);
      yield* changesIn(store.changesOf(run, request.after), run, request.companyId);
    }),

    undoImport: operatorCall(
      parts,
      async ({ after, dryRun, ...name }, { operator, signal, record }) => {
        const run = await runs.find(name);
        const undo = async () => {
          // A call that still writes for the run would write behind the undoing.
          if (!dryRun && (await runs.beginUndoing(run, operator))) {
            await delay(WRITING_PAUSE_MS);
            return { removed: 0, reverted: 0, restored: 0, kept: [], next: '' };
          }
          const prunedSince = await runs.prunedSince(run);
          const step = await store.undo(run, { after, prunedSince, dryRun, withinMs: UNDO_MS, signal });
          if (!dryRun && step.next === undefined) await runs.endUndoing(run);
          return step;
        };
        const { source, importId } = run;
        const details = { source, import: importId };
        const entry = { method: 'UndoImport', about: [source], details, sharedBy: run._id, dryRun };
        const { kept, next, ...counts } = await record(entry, undo, ({ kept, next, ...counts }) => ({
          ...counts,
          kept: kept.length,
        }));
        if (!dryRun) await announcer.confirm();
        const more = next !== undefined;
        return { ...counts, kept: kept.length, firstKept: kept.slice(0, MOST_KEPT), more, after: next ?? '' };
      },
      SCAN_DEADLINE_MS,
    ),

    listSourceRecords: serverStream(service, ({ source, after }) => recordsIn(store, source, after)),
  };
}

function noteOf(request: NoteImportRequest) {
  refuseBadImport(request);
  const { outcome, reasons, nextDueAtMs, difference } = request;
  if (!(outcome in ENDS))
    throw new Fault('invalid_argument', 'the outcome must be failed or stopped, or none');
  if (reasons.length > MOST_REASONS || reasons.some(({ length }) => length > LONGEST_REASON))
    throw new Fault(
      'invalid_argument',
      `give at most ${MOST_REASONS} reasons of at most ${LONGEST_REASON} characters`,
    );
  if (difference && ImportDifference.encode(difference).finish().length > MOST_DIFFERENCE_BYTES)
    throw new Fault('invalid_argument', `the difference has more than ${MOST_DIFFERENCE_BYTES} bytes`);
  return { outcome: ENDS[outcome as keyof typeof ENDS], reasons, nextDueAtMs, difference };
}

async function* changesIn(changes: ReturnType<CatalogStore['changesOf']>, run: RunName, companyId: string) {
  let told: SourceRecordChange[] = [];
  let bytes = 0;
  let read = 0;
  let after = '';
  for await (const { entry, stored } of changes) {
    after = referenceOf(entry);
    read++;
    const { source, id, quote: isQuote = false, from, to, was, now } = entry;
    const isOfCompany = companyId === '' || from === companyId || to === companyId;
    if (to !== undefined && isOfCompany) {
      const isLast = stored === undefined ? to === null : isBroughtBy(run, stored) || was === undefined;
      const isNew = was === null && stored !== undefined && isLast;
      const [before, stated] = [was?.bytes, isNew ? stored.bytes : now];
      bytes += (before?.length ?? 0) + (stated?.length ?? 0);
      told.push({
        ...{ source, id, isQuote, changedSince: !isLast, companyBefore: from ?? '', companyAfter: to ?? '' },
        before: before && Brand.decode(before),
        after: stated ? Brand.decode(stated) : undefined,
      });
    }
    if (read < IN_MESSAGE && bytes < MESSAGE_BYTES) continue;
    yield { changes: told, after };
    [told, bytes, read] = [[], 0, 0];
  }
  if (told.length > 0) yield { changes: told, after };
}

async function* recordsIn(
  store: CatalogStore,
  source: string,
  after: string,
): AsyncGenerator<ListSourceRecordsResponse> {
  const problem = problemOfSource(source);
  if (problem !== undefined) throw new Fault('invalid_argument', problem);
  for await (const { holders, end } of store.recordsOf(source, after)) {
    const records = holders.flatMap(({ doc, ids }) => {
      const { name, rank } = Brand.decode(doc.brand);
      return ids.map((id) => ({ id, companyId: doc._id, name, rank }));
    });
    yield { records, after: end };
  }
}
