import { type Answer, answerFacts, dataFacts, matchOf, type RecordAnswer, retryAfterOf } from './answer.ts';
import { BrandDataError, errorFrom, unreadable } from './error.ts';
import type { FlatRecord, GroupedRecord, MatchKind, SearchAnswer, Usage } from './gen/types.ts';
import { putNewest } from './newest.ts';

export interface BrandDataOptions {
  /** The base URL of the service, such as "https://api.example.com". */
  api: string;
  /** A publishable token, which begins with `pk_`. */
  token: string;
  /** How long a call may take, with its retries, in milliseconds. By default 10,000. */
  timeoutMs?: number | undefined;
  /** How often a call that was answered 503, or 429 for a short time, is made again. By default 2. */
  retries?: number | undefined;
  /** The most records that are kept in memory. By default 200. 0 keeps none. */
  cachedRecords?: number | undefined;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  /** Aborts the call. It then rejects with the signal's reason, as `fetch` does. */
  signal?: AbortSignal | undefined;
}

/** The kinds of identifier. Later versions of the service may have more. */
export type IdentifierKind = Exclude<MatchKind, 'unspecified'> | (string & {});

export interface RecordOptions extends CallOptions {
  /** The only kind that the identifier may be. By default any. */
  kind?: IdentifierKind | undefined;
}

export interface SearchOptions extends CallOptions {
  /** The most companies to find, 1 to 10. By default 10. */
  limit?: number | undefined;
}

export interface UsageOptions extends CallOptions {
  /** YYYY-MM in UTC: this month, which is the default, or one of the 24 before it. */
  month?: string | undefined;
}

/** A call that was answered so is made again: it brought nothing, and may bring something soon. */
const RETRIED = [429, 503];
/** An answer that asks for a longer wait than this, in seconds, is not retried. That of a used-up quota is one. */
const LONGEST_WAIT = 5;
/** The longest timeout of a browser, in milliseconds. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;
/** Waits are longer by up to this part, so that callers that failed together do not all return at once. */
const SPREAD = 0.25;

/**
 * Makes the calls of the public API. Every method rejects with a BrandDataError, or with the reason of the caller's signal.
 *
 * A record that is at most an hour old, by the answer's Cache-Control, is given from memory without a call. An older one is asked
 * for with its ETag. If it has not changed, the answer is a 304, which counts against the quota like a 200.
 */
export class BrandData {
  readonly #api: string;
  readonly #token: string;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #cachedRecords: number;
  /** The records that were used last, by the path and the kind of their call. */
  readonly #records = new Map<string, CachedRecord>();
  readonly #fetch: typeof fetch;

  constructor({
    api,
    token,
    timeoutMs = 10_000,
    retries = 2,
    cachedRecords = 200,
    ...more
  }: BrandDataOptions) {
    if (!(timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT))
      throw new RangeError(
        `"timeoutMs" must be a number of milliseconds above 0 and up to ${LONGEST_TIMEOUT}`,
      );
    this.#api = baseUrl(api);
    this.#token = token;
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
    this.#cachedRecords = cachedRecords;
    // A browser's fetch throws if it is called as a method of another object.
    this.#fetch = more.fetch ?? ((input, init) => fetch(input, init));
  }

  /**
   * The grouped record: fields without data are left out. `data.type` tells the shapes apart.
   *
   * @param identifier a ticker, a domain, a name, an ISIN, a CUSIP, a FIGI or an LEI
   */
  async brand(identifier: string, options: RecordOptions = {}): Promise<RecordAnswer<GroupedRecord>> {
    return this.#record(`/v1/brands/${segment(identifier)}`, options);
  }

  /** The flat record of a company, with its logo: fields without data are null. Superinvestors have no flat record. */
  async logo(identifier: string, options: RecordOptions = {}): Promise<RecordAnswer<FlatRecord>> {
    return this.#record(`/api/logos/${segment(identifier)}/info`, options);
  }

  /**
   * The companies of which a word of a name, a ticker or a domain begins with the text, the best known first. For completion while
   * somebody types. This call is never counted.
   */
  async search(text: string, { limit, signal }: SearchOptions = {}): Promise<Answer<SearchAnswer>> {
    return this.#uncounted(
      '/v1/search',
      { q: text, ...(limit !== undefined && { limit: String(limit) }) },
      signal,
    );
  }

  /** How many calls the account has used in a month. This call is never counted. */
  async usage({ month, signal }: UsageOptions = {}): Promise<Answer<Usage>> {
    return this.#uncounted('/v1/usage', month === undefined ? {} : { month }, signal);
  }

  #uncounted<T>(path: string, query: Record<string, string>, signal?: AbortSignal): Promise<Answer<T>> {
    return this.#withDeadline(signal, async (deadline) => {
      const response = await this.#send(path, query, {}, deadline);
      return { ...answerFacts(response.headers), data: await dataIn<T>(response) };
    });
  }

  async #record<T>(path: string, { kind, signal }: RecordOptions): Promise<RecordAnswer<T>> {
    signal?.throwIfAborted();
    const key = JSON.stringify([path, kind]);
    const keep = (record: CachedRecord) => putNewest(this.#records, key, record, this.#cachedRecords);
    const kept = this.#records.get(key);
    if (kept !== undefined) keep(kept);
    if (kept !== undefined && Date.now() < kept.freshUntil)
      return { ...(kept.answer as RecordAnswer<T>), charged: false };
    return this.#withDeadline(signal, async (deadline) => {
      const query = kind === undefined ? {} : { kind };
      const condition = kept === undefined ? {} : { 'If-None-Match': kept.etag };
      const response = await this.#send(path, query, condition, deadline);
      const { headers } = response;
      const data = response.status === 304 ? (kept?.answer.data as T) : await dataIn<T>(response);
      const answer = { ...answerFacts(headers), match: matchOf(headers), ...dataFacts(headers), data };
      const etag = headers.get('ETag');
      if (etag !== null) keep({ etag, answer, freshUntil: freshUntilOf(headers) });
      return answer;
    });
  }

  /** Makes the call, and makes it again if it was answered 429 or 503. Resolves to an answer 200 or 304, and rejects with any other. */
  async #send(
    path: string,
    query: Record<string, string>,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> {
    const url = `${this.#api}${path}?${new URLSearchParams({ ...query, token: this.#token })}`;
    // Workers of Cloudflare have no cookies, and some refuse a request that mentions credentials.
    const credentials = 'credentials' in Request.prototype ? ({ credentials: 'omit' } as const) : {};
    for (let retry = 0; ; retry++) {
      const response = await this.#fetch(url, { headers, signal, ...credentials });
      if (response.ok || (response.status === 304 && 'If-None-Match' in headers)) return response;
      const wait = retryAfterOf(response.headers) ?? 1;
      if (!RETRIED.includes(response.status) || retry >= this.#retries || wait > LONGEST_WAIT)
        throw await errorFrom(response);
      await response.body?.cancel();
      await pause(wait * 1_000 * (1 + SPREAD * Math.random()), signal);
    }
  }

  /** Runs the work until the caller's signal or the timeout aborts it, and tells the reasons of failures apart. */
  async #withDeadline<T>(
    signal: AbortSignal | undefined,
    work: (deadline: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await work(signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
    } catch (error) {
      if (error instanceof BrandDataError) throw error;
      signal?.throwIfAborted();
      if (timeout.aborted)
        throw new BrandDataError('timed_out', `The call was not answered within ${this.#timeoutMs} ms.`);
      // The reason is left out: some runtimes name the URL in it, and with it the token.
      throw new BrandDataError('network_failed', 'No answer arrived from the service.');
    }
  }
}

function baseUrl(api: string): string {
  const { protocol, origin, pathname } = new URL(api);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new TypeError('"api" must be an http or https URL');
  return origin + pathname.replace(/\/+$/, '');
}

/**
 * Returns the identifier as a segment of a path. Throws BrandDataError if a URL cannot hold it: no text has no segment, "." and ".."
 * mean folders, and unpaired surrogates cannot be encoded.
 */
function segment(identifier: string): string {
  if (/^\.{0,2}$/.test(identifier) || !identifier.isWellFormed())
    throw new BrandDataError('identifier_invalid', 'The identifier cannot be written in a URL.');
  return encodeURIComponent(identifier);
}

async function dataIn<T>(response: Response): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable({ ...answerFacts(response.headers), status: response.status });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    }
  });
}

interface CachedRecord {
  etag: string;
  answer: RecordAnswer<unknown>;
  /** Until when the record may be given without a call, in milliseconds since 1970. */
  freshUntil: number;
}

/** Until when the answer is fresh, from Cache-Control and Age. A shared cache on the way counts in Age. */
function freshUntilOf(headers: Headers): number {
  const [, maxAge = '0'] = /\bmax-age=(\d+)/.exec(headers.get('Cache-Control') ?? '') ?? [];
  return Date.now() + (Number(maxAge) - Number(headers.get('Age') ?? 0)) * 1_000;
}
