import {
  type AuditedChange,
  answerWithin,
  type CallMetadata,
  Fault,
  operatorCallOf,
  type Service,
  type Trail,
  unary,
} from '@brand-data/runtime';
import type { FindCandidates } from '../lookup/answers.ts';
import type { Suggest } from '../lookup/suggestions.ts';
import type { Announcer } from '../storage/announcer.ts';
import type { MeasureAges } from '../storage/freshness.ts';
import type { ImportRuns } from '../storage/import-runs.ts';
import type { Restore } from '../storage/restore.ts';
import type { CatalogStore } from '../storage/store.ts';

export const ANSWER_DEADLINE_MS = 20_000;
/** Deadline of calls that read the whole collection. */
export const SCAN_DEADLINE_MS = 60_000;
const MAX_BATCH = 500;
const RUN_ID = /^[\w.:-]{1,128}$/;
const LONGEST_ABOUT = 100;

export interface AdminParts {
  service: Service;
  findCandidates: FindCandidates;
  suggest: Suggest;
  store: CatalogStore;
  runs: ImportRuns;
  restore: Restore;
  measureAges: MeasureAges;
  announcer: Pick<Announcer, 'confirm'>;
  trail: Trail;
}

/** A call of an operator that is under way. */
export interface OperatorCall {
  /** The operator's name. */
  operator: string;
  /** Aborted at the deadline of the call, and when its caller cancels it. */
  signal: AbortSignal;
  /** Makes a change that leaves an entry in the trail. A dry run changes nothing, and leaves none. */
  record<Result>(
    entry: AuditedChange & { dryRun?: boolean },
    change: () => Promise<Result>,
    countsOf: (result: Result) => Record<string, number>,
  ): Promise<Result>;
}

/** Serves a call of operators, within 20 s unless `deadlineMs` says otherwise. */
export function operatorCall<Request, Response>(
  { service, trail }: Pick<AdminParts, 'service' | 'trail'>,
  handle: (request: Request, call: OperatorCall) => Promise<Response>,
  deadlineMs = ANSWER_DEADLINE_MS,
): ReturnType<typeof unary<Request, Response>> {
  return withDeadline(service, deadlineMs, (request, signal, metadata) => {
    const by = operatorCallOf(metadata);
    const record: OperatorCall['record'] = ({ dryRun = false, about, ...entry }, change, countsOf) => {
      if (dryRun) return change();
      const shortened = [...new Set(about.map((name) => name.slice(0, LONGEST_ABOUT)))];
      return trail.record(by, { ...entry, about: shortened }, change, countsOf);
    };
    return handle(request, { operator: by.operator.name, signal, record });
  });
}

/**
 * Serves a call, and answers `unavailable` if the handler has no answer within `deadlineMs`. The handler's signal is
 * aborted at the deadline and when the caller cancels, so that the handler can stop its work.
 */
export function withDeadline<Request, Response>(
  service: Service,
  deadlineMs: number,
  handle: (request: Request, signal: AbortSignal, metadata: CallMetadata) => Promise<Response>,
): ReturnType<typeof unary<Request, Response>> {
  const detail = "the catalogue's database did not answer in time: try again";
  return (call, callback) => {
    const abandoned = new AbortController();
    const abandon = () => abandoned.abort();
    call.on('cancelled', abandon);
    const serve = unary<Request, Response>(service, async (request, metadata) => {
      const deadline = setTimeout(abandon, deadlineMs);
      try {
        const answer = handle(request, abandoned.signal, metadata);
        return await answerWithin(answer, { withinMs: deadlineMs, detail });
      } finally {
        clearTimeout(deadline);
        // gRPC also tells of the end of every answered call.
        call.off('cancelled', abandon);
      }
    });
    serve(call, callback);
  };
}

/** Throws Fault `invalid_argument` if the batch has too many items. */
export function refuseLargeBatch(items: readonly unknown[]): void {
  if (items.length > MAX_BATCH)
    throw new Fault('invalid_argument', `the batch has ${items.length} items: send ${MAX_BATCH} at most`);
}

/** Checks the id of an import or of a restore. */
export function isRunId(id: string): boolean {
  return RUN_ID.test(id);
}

/** Throws Fault `invalid_argument` if the id cannot be that of an import or of a restore. */
export function refuseBadRunId(of: 'an import' | 'a restore', id: string): void {
  if (!isRunId(id))
    throw new Fault(
      'invalid_argument',
      `the id of ${of} must have 1 to 128 letters, digits, hyphens, underscores, dots and colons`,
    );
}

/** Replaces the reference of a record, in a conflict or a refused link, by the record's index in the request or the answer. */
export function withIndex(
  indexes: ReadonlyMap<string, number>,
): <T extends { readonly reference: string }>(report: T) => Omit<T, 'reference'> & { index: number } {
  return ({ reference, ...report }) => ({ ...report, index: indexes.get(reference) ?? 0 });
}
