import type { CatalogServiceClient, LookupQuery, LookupResponse, LookupResult } from '@brand-data/contracts';
import {
  activeSpanContext,
  type Clock,
  callUnary,
  Fault,
  inBatchSpan,
  type ReplicaChoice,
  type SpanContext,
  type Tracer,
} from '@brand-data/runtime';
import { hedge } from '../upstream/hedge.ts';

const QUERIES_IN_BATCH = 200;
/** The largest size of an answer of catalog. */
const BATCH_BYTES = 256 * 1024;
const LOOKUPS_WAITING = 10_000;
/** The second goes to another replica. A third would triple the work of a catalog that is only slow. */
const ATTEMPTS = 2;

interface BatchOptions {
  withinMs: number;
  clock: Clock;
  onFailure?: (() => void) | undefined;
  onBatch?: ((queries: number) => void) | undefined;
  tracer: Tracer | undefined;
}

interface WaitingLookup {
  query: LookupQuery;
  spanContext: SpanContext | undefined;
  resolve: (result: LookupResult) => void;
  reject: (error: unknown) => void;
}

/** Puts the look-ups of the same moment into one request to catalog. If the replica that has the request hangs, another one answers. */
export class LookupBatches {
  readonly #catalog: CatalogServiceClient;
  readonly #options: BatchOptions;
  #waiting: WaitingLookup[] = [];
  #underWay = 0;
  #requests = 0;

  constructor(catalog: CatalogServiceClient, options: BatchOptions) {
    this.#catalog = catalog;
    this.#options = options;
  }

  /** Looks one identifier up in catalog. */
  lookup(query: LookupQuery): Promise<LookupResult> {
    return new Promise((resolve, reject) => {
      if (this.#underWay + this.#waiting.length >= LOOKUPS_WAITING) {
        reject(new Fault('unavailable', 'too many look-ups are waiting'));
        return;
      }
      if (this.#waiting.length === 0) setImmediate(() => this.#sendWaiting());
      const spanContext = this.#options.tracer && activeSpanContext();
      this.#waiting.push({ query, spanContext, resolve, reject });
    });
  }

  #sendWaiting(): void {
    const all = this.#waiting;
    this.#waiting = [];
    this.#sendInBatches(all, QUERIES_IN_BATCH);
  }

  #sendInBatches(lookups: readonly WaitingLookup[], size: number): void {
    for (let from = 0; from < lookups.length; from += size) void this.#send(lookups.slice(from, from + size));
  }

  async #send(batch: WaitingLookup[]): Promise<void> {
    this.#underWay += batch.length;
    this.#options.onBatch?.(batch.length);
    try {
      const { results } = await this.#request(batch);
      const leftOut: WaitingLookup[] = [];
      for (const [index, waiting] of batch.entries()) {
        const result = results[index];
        if (result?.leftOut && index > 0) leftOut.push(waiting);
        else if (result && !result.leftOut) waiting.resolve(result);
        else waiting.reject(new Error('catalog answered fewer results than queries'));
      }
      // Batches of the size that fitted, all at once.
      this.#sendInBatches(leftOut, Math.max(1, batch.length - leftOut.length));
    } catch (error) {
      this.#options.onFailure?.();
      for (const { reject } of batch) reject(error);
    } finally {
      this.#underWay -= batch.length;
    }
  }

  #request(batch: readonly WaitingLookup[]): Promise<LookupResponse> {
    const { clock, tracer, withinMs } = this.#options;
    const queries = batch.map(({ query }) => query);
    const request = { queries, weakMatches: true, maxBytes: BATCH_BYTES };
    const spanContexts = batch.flatMap(({ spanContext }) => spanContext ?? []);
    // A new key for each request: all replicas get as many.
    const preference = { key: String(this.#requests++) };
    const send = (deadlineMs: number, replica: ReplicaChoice) =>
      callUnary(this.#catalog, this.#catalog.lookup, request, { deadlineMs, replica, waitForReady: true });
    return inBatchSpan(tracer, 'look up', { spanContexts }, () =>
      hedge(clock, withinMs, preference, send, ATTEMPTS),
    );
  }
}
