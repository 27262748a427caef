import {
  BrandData,
  BrandDataError,
  type FlatRecord,
  type GroupedRecord,
  type PoolUsage,
  type RecordAnswer,
} from '@brand-data/client/source';

export interface Call {
  /** The base URL of the service. */
  api: string;
  token: string;
  identifier: string;
  /** The form of the record. */
  form: 'grouped' | 'flat';
}

/** The outcome of one call, as a program sees it. */
export interface CallReport {
  /** undefined if no answer arrived. */
  response: { status: number; headers: readonly (readonly [string, string])[]; body: string } | undefined;
  /** From the start of the call to the last byte of its answer, in milliseconds. */
  ms: number;
  outcome:
    | { kind: 'grouped'; answer: RecordAnswer<GroupedRecord> }
    | { kind: 'flat'; answer: RecordAnswer<FlatRecord> }
    | { kind: 'failed'; error: BrandDataError };
}

/** Makes the call, and again with the record's ETag. Rejects only with the signal's reason. */
export type SendCall = (signal: AbortSignal) => Promise<CallReport>;

/**
 * Returns the function that makes exactly one call each time: it neither retries nor takes a record from memory or from the browser's
 * cache. The client has the record of the call before, so from the second time on it asks with the record's ETag.
 */
export function prepareCall({ api, token, identifier, form }: Call): SendCall {
  let response: CallReport['response'];
  const client = new BrandData({
    api,
    token,
    retries: 0,
    cachedRecords: 1,
    async fetch(input, init) {
      const got = await fetch(input, { ...init, cache: 'no-store', referrerPolicy: 'no-referrer' });
      const body = await got.text();
      response = { status: got.status, headers: [...got.headers], body };
      // Stale at once, so that the client asks the service each time.
      const headers = new Headers(got.headers);
      headers.set('Cache-Control', 'max-age=0');
      return new Response(got.status === 304 ? null : body, { status: got.status, headers });
    },
  });
  const outcomeOf = async (signal: AbortSignal): Promise<CallReport['outcome']> => {
    try {
      if (form === 'grouped') return { kind: form, answer: await client.brand(identifier, { signal }) };
      return { kind: form, answer: await client.logo(identifier, { signal }) };
    } catch (error) {
      if (error instanceof BrandDataError) return { kind: 'failed', error };
      throw error;
    }
  };
  return async (signal) => {
    response = undefined;
    const begin = performance.now();
    const outcome = await outcomeOf(signal);
    return { outcome, response, ms: performance.now() - begin };
  };
}

/** A complete answer of /v1/usage includes each call that was answered this long ago, in milliseconds. */
const USAGE_INCLUDES_MS = 2_000;
/** While metering lags behind, its figures are not complete. */
const MOST_READS = 20;

/**
 * Resolves to the pool of a call that was just answered, when its figures include the call. undefined if the call has no pool or
 * several that look alike, if the figures do not become complete, or if the signal aborts it.
 */
export async function remainingAfter(
  { api, token }: Call,
  { outcome }: CallReport,
  signal: AbortSignal,
): Promise<PoolUsage | undefined> {
  const { quota } = outcome.kind === 'failed' ? outcome.error : outcome.answer;
  const client = new BrandData({ api, token });
  for (let read = 0; quota !== undefined && read < MOST_READS; read++) {
    await new Promise((resolve) => setTimeout(resolve, USAGE_INCLUDES_MS));
    if (signal.aborted) return undefined;
    const usage = await client.usage({ signal }).catch(() => undefined);
    if (!usage?.data.complete) continue;
    const pools = usage.data.pools.filter(({ allowance }) => allowance === quota.allowance);
    return pools.length === 1 ? pools[0] : undefined;
  }
  return undefined;
}

/** Returns the call's path, below the base URL. The API takes the token in the query. */
export function pathOf({ identifier, form }: Pick<Call, 'identifier' | 'form'>): string {
  // A single quote is percent-encoded too, so that shells and programs may hold the URL in quotes.
  const segment = encodeURIComponent(identifier.toWellFormed()).replaceAll("'", '%27');
  return form === 'grouped' ? `v1/brands/${segment}` : `api/logos/${segment}/info`;
}
