import type { CatalogAdminServiceServer, PutBrandsRequest, RefusedBrand } from '@brand-data/contracts';
import { problemOfSource, problemsOf, problemsOfQuote, refusalOf } from '@brand-data/records';
import { Fault } from '@brand-data/runtime';
import type { PutOutcome } from '../linkage/plan.ts';
import { byEntry } from '../lookup/answers.ts';
import { keysOfQuote, placeQuote } from '../records/quotes.ts';
import { referenceOf, type SourceRecord, sourceRecordOf } from '../records/source-record.ts';
import type { RunName } from '../storage/journal.ts';
import type { PutAnswer } from '../storage/store.ts';
import {
  type AdminParts,
  ANSWER_DEADLINE_MS,
  type OperatorCall,
  operatorCall,
  refuseBadRunId,
  refuseLargeBatch,
  SCAN_DEADLINE_MS,
  withIndex,
} from './operator-calls.ts';

/** Records to read for one entry of a quote. In practice fewer companies use the same ticker on different exchanges. */
const MAX_PER_TICKER = 100;
const ALONE = 'no other source has a record of this company';
/** Time for one prune call. Well below the deadline that importers set. */
const PRUNE_MS = 5_000;
/** How much longer than its deadline a call may write: until the database has answered its last write. */
const ENDING_MS = 10_000;

/** Returns the calls of importers. All calls of one import share one entry in the trail. */
export function importCalls(
  parts: AdminParts,
): Pick<CatalogAdminServiceServer, 'putBrands' | 'putQuotes' | 'finishImport'> {
  const { store, runs, findCandidates, announcer } = parts;
  return {
    putBrands: operatorCall(parts, async (request, call) => {
      refuseBadImport(request);
      refuseLargeBatch(request.brands);
      const { source, importId, brands } = request;
      const items = refuseRepeats(
        brands.map((brand) => {
          const record = sourceRecordOf(source, importId, brand);
          const refused = refusalOf(problemsOf(brand, record.bytes.length));
          return refused === undefined ? record : { refused };
        }),
        'the id occurs twice in this batch: send one record for each id',
      );
      const answer = await put(parts, request, items, call);
      const { outcomes, refused, conflicts, refusedLinks, difference, keptIds } = answer;
      const indexes = new Map(acceptedOf(items).map(({ record, index }) => [referenceOf(record), index]));
      return {
        ...countsOf(outcomes),
        refused,
        skipped: acceptedOf(items).flatMap(({ index }, number) =>
          outcomes[number] === 'alone' ? [{ index, reason: ALONE }] : [],
        ),
        conflicts: conflicts.map(withIndex(indexes)),
        refusedLinks: refusedLinks.map(withIndex(indexes)),
        difference,
        keptIds,
      };
    }),

    putQuotes: operatorCall(parts, async (request, call) => {
      refuseBadImport(request);
      refuseLargeBatch(request.quotes);
      const { source, importId, quotes } = request;
      const refusals = quotes.map((quote) => refusalOf(problemsOfQuote(quote)));
      const keys = quotes.map((quote, index) => (refusals[index] === undefined ? keysOfQuote(quote) : []));
      const wanted = [...new Set(keys.flat())];
      const candidates = byEntry(await findCandidates(wanted, { perEntry: MAX_PER_TICKER }));
      const skipped: RefusedBrand[] = [];
      const items = refuseRepeats(
        quotes.map((quote, index) => {
          const refused = refusals[index];
          if (refused !== undefined) return { refused };
          const own = [...new Set(keys[index]?.flatMap((key) => candidates.get(key) ?? []))];
          const placed = placeQuote(source, importId, quote, own);
          if (!('skipped' in placed)) return placed;
          skipped.push({ index, reason: placed.skipped });
          return undefined;
        }),
        'the listing occurs twice in this batch: send one quote for each listing',
      );
      const { outcomes, refused, difference, keptIds } = await put(parts, request, items, call);
      const { unchanged } = countsOf(outcomes);
      const changed = quotes.length - refused.length - skipped.length - unchanged;
      return { changed, unchanged, refused, skipped, difference, keptIds };
    }),

    finishImport: operatorCall(
      parts,
      async (request, { operator, signal, record }) => {
        refuseBadImport(request);
        const { source, importId, prune } = request;
        const step = (beforeWriting: () => Promise<void>) =>
          store.prune(source, importId, { withinMs: PRUNE_MS, signal, beforeWriting });
        const limits = { operator, withinMs: SCAN_DEADLINE_MS + ENDING_MS };
        const change = () => runs.during(request, limits, step, ({ difference }) => ({ difference }));
        const { pruned, more } = prune
          ? await record(trailEntryOf(request), change, ({ pruned }) => ({ pruned }))
          : { pruned: 0, more: false };
        if (!more) {
          await runs.note(request, operator, { outcome: 'finished', pruned: prune });
          await store.noteImport(source, importId);
        }
        await announcer.confirm();
        return { pruned, more: more || (await runs.forget(PRUNE_MS)) };
      },
      SCAN_DEADLINE_MS,
    ),
  };
}

/** An item of a batch: a source record to put, a refusal, or undefined when it is skipped. */
type BatchItem = SourceRecord | { readonly refused: string } | undefined;

/** Puts the accepted items of a batch. Returns the refusals of all items, by their index. */
async function put(
  { store, runs }: Pick<AdminParts, 'store' | 'runs'>,
  request: Pick<PutBrandsRequest, 'source' | 'importId' | 'dryRun'> & { onlyJoining?: boolean },
  items: readonly BatchItem[],
  { operator, signal, record }: OperatorCall,
): Promise<PutAnswer & { refused: RefusedBrand[]; keptIds: string[] }> {
  const { source, dryRun, onlyJoining = false } = request;
  const accepted = acceptedOf(items);
  const records = accepted.map(({ record }) => record);
  const write = async (beforeWriting?: () => Promise<void>) => {
    const options = { dryRun, onlyJoining, signal, beforeWriting };
    const answer = await store.putSourceRecords(source, records, options);
    const refused = [
      ...items.flatMap((item, index) => (item && 'refused' in item ? { index, reason: item.refused } : [])),
      ...answer.outcomes.flatMap((outcome, number) =>
        typeof outcome === 'object' ? { index: accepted[number]?.index ?? 0, reason: outcome.refused } : [],
      ),
    ];
    const isKept = (outcome: PutOutcome | undefined) => typeof outcome === 'string' && outcome !== 'alone';
    const kept = dryRun ? records.filter((_, number) => isKept(answer.outcomes[number])) : [];
    return {
      ...answer,
      refused: refused.sort((a, b) => a.index - b.index),
      keptIds: kept.map(({ id }) => id),
    };
  };
  type Answer = Awaited<ReturnType<typeof write>>;
  const counts = ({ outcomes, refused }: Answer) => ({ ...countsOf(outcomes), refused: refused.length });
  if (dryRun) return write();
  const limits = { operator, withinMs: ANSWER_DEADLINE_MS + ENDING_MS };
  const change = () =>
    runs.during(request, limits, write, (answer) => ({
      counts: counts(answer),
      difference: answer.difference,
    }));
  return record(trailEntryOf(request), change, counts);
}

/** Returns the source records to put, with their indexes in the batch. */
function acceptedOf(items: readonly BatchItem[]): { record: SourceRecord; index: number }[] {
  return items.flatMap((item, index) => (item && !('refused' in item) ? { record: item, index } : []));
}

function refuseRepeats(items: readonly BatchItem[], refused: string): BatchItem[] {
  const seen = new Set<string>();
  return items.map((item) => {
    if (item === undefined || 'refused' in item) return item;
    if (seen.has(item.id)) return { refused };
    seen.add(item.id);
    return item;
  });
}

function countsOf(outcomes: readonly PutOutcome[]) {
  const countOf = (wanted: PutOutcome) => outcomes.filter((outcome) => outcome === wanted).length;
  return { created: countOf('created'), changed: countOf('changed'), unchanged: countOf('unchanged') };
}

function trailEntryOf({ source, importId }: RunName) {
  const details = { source, import: importId };
  return { method: 'Import', about: [source], details, sharedBy: `${source} ${importId}` };
}

export function refuseBadImport({ source, importId }: RunName): void {
  const problem = problemOfSource(source);
  if (problem !== undefined) throw new Fault('invalid_argument', problem);
  refuseBadRunId('an import', importId);
}
