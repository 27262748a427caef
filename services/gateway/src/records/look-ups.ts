import type { CatalogServiceClient, LookupQuery, LookupResult } from '@brand-data/contracts';
import {
  activeSpanContext,
  type Clock,
  callUnary,
  Fault,
  inBatchSpan,
  type SpanContext,
  type Tracer,
} from '@brand-data/runtime';
import { hedge } from '../upstream/hedge.ts';

const QUERIES_IN_BATCH = 200;
/** Of an answer of catalog. */
const BATCH_BYTES = 256 * 1024;
const LOOKUPS_WAITING = 10_000;
/** The second goes to another replica. A third would triple the work of a catalog that is only slow. */
const ATTEMPTS = 2;

/**
 * Returns a look-up function that puts the look-ups of the same moment into one request to catalog. If the replica that has the
 * request hangs, another one answers.
 */
export function batchLookups(
  catalog: CatalogServiceClient,
  {
    withinMs,
    clock,
    onFailure = () => {},
    onBatch,
    tracer,
  }: {
    withinMs: number;
    clock: Clock;
    onFailure?: () => void;
    onBatch: (queries: number) => void;
    tracer: Tracer | undefined;
  },
): (query: LookupQuery) => Promise<LookupResult> {
  type Waiting = {
    query: LookupQuery;
    spanContext: SpanContext | undefined;
    resolve: (result: LookupResult) => void;
    reject: (error: unknown) => void;
  };
  let waiting: Waiting[] = [];
  let underWay = 0;
  let requests = 0;

  const send = async (batch: Waiting[]): Promise<void> => {
    underWay += batch.length;
    onBatch(batch.length);
    try {
      const queries = batch.map(({ query }) => query);
      const request = { queries, weakMatches: true, maxBytes: BATCH_BYTES };
      const spanContexts = batch.flatMap(({ spanContext }) => spanContext ?? []);
      // A new key for each request: all replicas get as many.
      const preference = { key: String(requests++) };
      const { results } = await inBatchSpan(tracer, 'look up', { spanContexts }, () =>
        hedge(
          clock,
          withinMs,
          preference,
          (deadlineMs, replica) =>
            callUnary(catalog, catalog.lookup, request, { deadlineMs, replica, waitForReady: true }),
          ATTEMPTS,
        ),
      );
      const leftOut: Waiting[] = [];
      for (const [index, waiting] of batch.entries()) {
        const result = results[index];
        if (result?.leftOut && index > 0) leftOut.push(waiting);
        else if (result && !result.leftOut) waiting.resolve(result);
        else waiting.reject(new Error('catalog answered fewer results than queries'));
      }
      // Batches of the size that fitted, all at once.
      const fitted = batch.length - leftOut.length;
      for (let from = 0; from < leftOut.length; from += Math.max(1, fitted))
        void send(leftOut.slice(from, from + Math.max(1, fitted)));
    } catch (error) {
      onFailure();
      for (const { reject } of batch) reject(error);
    } finally {
      underWay -= batch.length;
    }
  };

  return (query) =>
    new Promise((resolve, reject) => {
      if (underWay + waiting.length >= LOOKUPS_WAITING) {
        reject(new Fault('unavailable', 'too many look-ups are waiting'));
        return;
      }
      if (waiting.length === 0) {
        setImmediate(() => {
          const all = waiting;
          waiting = [];
          for (let from = 0; from < all.length; from += QUERIES_IN_BATCH) {
            void send(all.slice(from, from + QUERIES_IN_BATCH));
          }
        });
      }
      waiting.push({ query, spanContext: tracer && activeSpanContext(), resolve, reject });
    });
}
