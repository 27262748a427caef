import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isOperatorCredential } from '@brand-data/contracts';
import { answerWithin, closeHttpServer, Fault, type FaultKind } from '@brand-data/runtime';
import { html } from '@brand-data/runtime/html';
import type { Connection } from '../connection/connection.ts';
import { allAccountsPage } from './all-accounts.ts';
import { HOME, STYLE, wholePage } from './layout.ts';
import { oneAccountPage } from './one-account.ts';
import { STYLE_SHEET } from './style.ts';

/** By default only this machine reaches the page: its HTTP is not encrypted, and carries operators' credentials. */
const HOST = '127.0.0.1';
const ALL_ADDRESSES = '0.0.0.0';
const PAGE_WITHIN_MS = 20_000;
/** Each page of all accounts holds the usage of all of them in memory for a moment. */
const PAGES_AT_ONCE = 4;
const MOST_CONNECTIONS = 64;
/** Wrong credentials are counted for this time. With the most of them, every credential is refused. */
const WINDOW_MS = 60_000;
const MOST_IN_WINDOW = 10;

/** No script at all, no inline style, no other host, and no frame around the page. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

interface Answer {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

/** A Fault's status and the title of its page. All other kinds are defects. */
const PROBLEMS: Partial<Record<FaultKind, { status: number; title: string }>> = {
  invalid_argument: { status: 400, title: 'This page cannot be shown' },
  unauthenticated: { status: 401, title: 'The credential is not valid' },
  permission_denied: { status: 403, title: 'The credential does not open this page' },
  not_found: { status: 404, title: 'There is no such account' },
  unavailable: { status: 503, title: 'A part of the service is down' },
};

/** The options of the page of accounts' usage. */
interface UsagePageOptions {
  /** 0: any free port. */
  port: number;
  /** Whether to listen on all addresses, and not only on 127.0.0.1. */
  allAddresses?: boolean | undefined;
  /** Connects to the services with this operator's credential. */
  connectAs(credential: string): Connection;
  /** Gets the defects that answers do not show. */
  onDefect(error: unknown): void;
}

/**
 * Serves the pages of accounts' usage on this machine. The page has no credential: every request carries that of an operator by
 * HTTP Basic, and the page reads all data with it. Rejects if the port is taken.
 */
export async function serveUsagePage({ port, allAddresses = false, connectAs, onDefect }: UsagePageOptions) {
  const attempts = new Attempts();
  let open = 0;

  const pageFor = async (request: IncomingMessage): Promise<Answer> => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return { ...problem(405, 'Only GET is possible', ''), headers: { Allow: 'GET, HEAD' } };
    if (request.url === STYLE)
      return { status: 200, body: STYLE_SHEET, headers: { 'Content-Type': 'text/css; charset=utf-8' } };
    const refusal = refusalOf(request, attempts);
    if (refusal !== undefined) return refusal;
    if (open >= PAGES_AT_ONCE)
      return problem(503, 'Too many pages at once', 'Load the page again in a moment.');
    const connection = connectAs(credentialOf(request) ?? '');
    const over = new AbortController();
    open += 1;
    try {
      return await answerWithin(pageAt(connection, request, over.signal), {
        withinMs: PAGE_WITHIN_MS,
        detail: 'The answer took too long: load the page again, or use bds usage.',
      });
    } finally {
      over.abort();
      connection.close();
      open -= 1;
    }
  };

  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    void pageFor(request)
      .catch((error: unknown) => failed(error, attempts, onDefect))
      .then((answer) => send(response, answer));
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.listen(port, allAddresses ? ALL_ADDRESSES : HOST);
  await once(server, 'listening');
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}${HOME}`,
    /** Answers the requests that have arrived, and closes the port. */
    stop: () => closeHttpServer({ server, close: () => new Promise((resolve) => server.close(resolve)) }),
  };
}

/** Counts the wrong credentials of all callers together, so that no caller can try many. */
class Attempts {
  #failures: number[] = [];

  /** Returns for how many seconds every credential is refused. 0: they are checked. */
  refusedForS(): number {
    const now = performance.now();
    this.#failures = this.#failures.filter((at) => at > now - WINDOW_MS);
    const [first] = this.#failures;
    if (first === undefined || this.#failures.length < MOST_IN_WINDOW) return 0;
    return Math.ceil((first + WINDOW_MS - now) / 1_000);
  }

  failed(): void {
    this.#failures = [...this.#failures.slice(1 - MOST_IN_WINDOW), performance.now()];
  }
}

/** Why the request gets no data, before any service is asked. */
function refusalOf(request: IncomingMessage, attempts: Attempts): Answer | undefined {
  const { 'sec-fetch-site': site = 'none', 'sec-fetch-dest': dest } = request.headers;
  // Another site may link here, but not make a browser read data with the operator's credential.
  if (site !== 'none' && site !== 'same-origin' && dest !== 'document')
    return problem(403, 'Other sites cannot read this page', '');
  const credential = credentialOf(request);
  if (credential === undefined)
    return challenge('A credential is needed', 'Give the credential of a named operator as the password.');
  const waitS = attempts.refusedForS();
  if (waitS > 0)
    return {
      ...problem(429, 'Too many wrong credentials', `Try again in ${waitS} seconds.`),
      headers: { 'Retry-After': String(waitS) },
    };
  if (isOperatorCredential(credential)) return undefined;
  attempts.failed();
  return challenge(
    'The credential is not valid',
    "Give the credential of a named operator. The installation's operator token does not open this page.",
  );
}

/** Returns the password of HTTP Basic. The credential says who the operator is, so the user's name has no meaning. */
function credentialOf({ headers: { authorization = '' } }: IncomingMessage): string | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const [, credential] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return credential;
}

async function pageAt(
  connection: Connection,
  { url = HOME }: IncomingMessage,
  signal: AbortSignal,
): Promise<Answer> {
  const asked = URL.parse(url, `http://${HOST}`);
  if (asked?.pathname === HOME)
    return { status: 200, body: await allAccountsPage(connection, asked.searchParams, signal) };
  const [, id] = /^\/accounts\/([^/]+)$/.exec(asked?.pathname ?? '') ?? [];
  if (asked === null || id === undefined) return problem(404, 'There is no such page', '');
  try {
    return {
      status: 200,
      body: await oneAccountPage(connection, decodeURIComponent(id), asked.searchParams),
    };
  } catch (error) {
    if (error instanceof URIError) return problem(404, 'There is no such page', '');
    throw error;
  }
}

function failed(error: unknown, attempts: Attempts, onDefect: (error: unknown) => void): Answer {
  const shown = error instanceof Fault ? PROBLEMS[error.kind] : undefined;
  if (shown === undefined) {
    onDefect(error);
    return problem(500, 'This page has a defect', 'The output of bds says more.');
  }
  if (shown.status === 401) {
    attempts.failed();
    return challenge(shown.title, 'Accounts does not know this credential, or it was revoked.');
  }
  return problem(shown.status, shown.title, (error as Fault).message);
}

function problem(status: number, title: string, text: string): Answer {
  return { status, body: wholePage(title, html`<p>${text}</p>`) };
}

/** Makes browsers ask for name and password. */
function challenge(title: string, text: string): Answer {
  const headers = { 'WWW-Authenticate': 'Basic realm="usage of accounts", charset="UTF-8"' };
  return { ...problem(401, title, text), headers };
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response
    .writeHead(status, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      ...HEADERS,
      ...headers,
    })
    .end(response.req.method === 'HEAD' ? undefined : body);
}
