import { setTimeout } from 'node:timers/promises';
import { FetchProblem } from './stored-file.ts';

/** A request that may succeed if it is repeated. */
export class PassingProblem extends FetchProblem {
  /** How long the server asks to wait. */
  readonly afterMs: number;

  constructor(message: string, afterMs = 0) {
    super(message);
    this.afterMs = afterMs;
  }
}

const MOST_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
/** What a server answers while it is busy or restarts. */
const PASSING = [408, 425, 429, 500, 502, 503, 504];
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Sends requests one after another, in no faster rhythm than `perSecond`. Each tells the server who asks. */
export class Requests {
  readonly #userAgent: string;
  readonly #pauseMs: number;
  readonly #sleep: typeof setTimeout;
  #nextAt = 0;

  constructor(userAgent: string, perSecond: number, sleep = setTimeout) {
    this.#userAgent = userAgent;
    this.#pauseMs = 1_000 / perSecond;
    this.#sleep = sleep;
  }

  /** Waits. Rejects if the signal is aborted. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    await this.#sleep(ms, undefined, { signal });
  }

  /**
   * Gets a URL, over HTTPS. Follows redirects to HTTPS alone. Resolves to an answer of status 200, 206, 304 or 416; rejects with a
   * PassingProblem or another FetchProblem, neither of which names the query of the URL.
   */
  async get(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    let at = new URL(url);
    requireSafe(at, at);
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const response = await this.#send(at, headers, signal);
      if (!REDIRECTS.includes(response.status)) return requireData(response, at);
      await response.body?.cancel();
      const next = URL.parse(response.headers.get('location') ?? '', at.href);
      if (next === null) throw new FetchProblem(`${shownUrl(at)} redirects to no address`);
      requireSafe(next, at);
      at = next;
    }
    throw new FetchProblem(`${shownUrl(new URL(url))} redirects more than ${MOST_REDIRECTS} times`);
  }

  async #send(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const pauseMs = this.#nextAt - performance.now();
    if (pauseMs > 0) await this.wait(pauseMs, signal);
    this.#nextAt = performance.now() + this.#pauseMs;
    try {
      // A length and a range are of what is sent, which therefore must be the file itself.
      const sent = { 'user-agent': this.#userAgent, 'accept-encoding': 'identity', ...headers };
      return await fetch(url, { headers: sent, redirect: 'manual', signal });
    } catch (error) {
      signal.throwIfAborted();
      throw new PassingProblem(`${shownUrl(url)} did not answer (${causeOf(error)})`);
    }
  }
}

/** Names a URL without its query and its password, which may be secrets. */
export function shownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

export function causeOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? message;
}

/**
 * Checks that nobody on the way can change what arrives. Plain HTTP is for addresses on this machine. A URL with a password is refused
 * here, because the error of `fetch` would show it.
 */
function requireSafe(url: URL, from: URL): void {
  const isHere = LOOPBACK.test(url.hostname) && LOOPBACK.test(from.hostname);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isHere);
  const isBare = url.username === '' && url.password === '';
  if (isSafe && isBare) return;
  const found = url === from ? 'is' : `redirects to ${shownUrl(url)}, which is`;
  throw new FetchProblem(
    `${shownUrl(from)} ${found} ${isSafe ? 'an address with a user name or a password' : 'no https address'}`,
  );
}

async function requireData(response: Response, url: URL): Promise<Response> {
  const { status, headers } = response;
  const isHtml = /^(?:text\/html|application\/xhtml)/i.test(headers.get('content-type') ?? '');
  if ([304, 416].includes(status) || ([200, 206].includes(status) && !isHtml)) return response;
  await response.body?.cancel();
  const shown = shownUrl(url);
  if (PASSING.includes(status))
    throw new PassingProblem(`${shown} answers with status ${status}`, waitOf(headers.get('retry-after')));
  if (status === 403)
    throw new FetchProblem(
      `${shown} answers with status 403: check the contact in the file of sources, which some publishers require`,
    );
  throw new FetchProblem(
    isHtml && status < 300
      ? `${shown} answers with a page (HTML) in place of data: look at it in a browser`
      : `${shown} answers with status ${status}: check the address`,
  );
}

const LONGEST_WAIT_MS = 86_400_000;

/** Reads Retry-After, in seconds or as a time. A timer with a longer wait than it can hold would end at once. */
function waitOf(value: string | null): number {
  if (value === null) return 0;
  const ms = /^\d{1,6}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LONGEST_WAIT_MS);
}
