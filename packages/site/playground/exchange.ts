import {
  BrandData,
  BrandDataError,
  type FlatRecord,
  type GroupedRecord,
  type RecordAnswer,
} from '../../client/src/index.ts';

export type Variant = 'grouped' | 'flat';

export interface Call {
  /** The base URL of the service. */
  api: string;
  token: string;
  identifier: string;
  variant: Variant;
}

/** What arrived for one call, as a program sees it. */
export interface Exchange {
  /** undefined if no answer arrived. */
  response: { status: number; headers: readonly (readonly [string, string])[]; body: string } | undefined;
  /** From the start of the call to the last byte of its answer, in milliseconds. */
  ms: number;
  outcome:
    | { kind: 'grouped'; answer: RecordAnswer<GroupedRecord> }
    | { kind: 'flat'; answer: RecordAnswer<FlatRecord> }
    | { kind: 'failed'; error: BrandDataError };
}

/** Makes one call of the API, and again with the record's ETag. */
export interface Caller {
  readonly call: Call;
  /** Rejects only with the signal's reason. */
  send(signal: AbortSignal): Promise<Exchange>;
}

/**
 * Each `send` makes exactly one call: it neither retries nor takes a record from memory or from the browser's cache. The client has
 * the record of the call before, so from the second `send` on it asks with the record's ETag.
 */
export function createCaller(call: Call): Caller {
  let response: Exchange['response'];
  const client = new BrandData({
    api: call.api,
    token: call.token,
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
  const outcomeOf = async (signal: AbortSignal): Promise<Exchange['outcome']> => {
    try {
      if (call.variant === 'grouped')
        return { kind: 'grouped', answer: await client.brand(call.identifier, { signal }) };
      return { kind: 'flat', answer: await client.logo(call.identifier, { signal }) };
    } catch (error) {
      if (error instanceof BrandDataError) return { kind: 'failed', error };
      throw error;
    }
  };
  return {
    call,
    async send(signal) {
      response = undefined;
      const begin = performance.now();
      const outcome = await outcomeOf(signal);
      return { outcome, response, ms: performance.now() - begin };
    },
  };
}

/** The call's path, below the base URL. The API takes the token in the query. */
export function pathOf({ identifier, variant }: Pick<Call, 'identifier' | 'variant'>): string {
  // A single quote is percent-encoded too, so that shells and programs may hold the URL in quotes.
  const segment = encodeURIComponent(identifier.toWellFormed()).replaceAll("'", '%27');
  return variant === 'grouped' ? `v1/brands/${segment}` : `api/logos/${segment}/info`;
}
