import { isMonth, monthOf } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Connection } from '../connection.ts';
import { ACCOUNTS_ON_A_PAGE, accountPage, messagePage, overviewPage, signInPage } from './pages.ts';
import { createSessions, type Session } from './sessions.ts';
import { STYLE } from './style.ts';
import { readMonthOfAll, readMonthOfOne } from './usage.ts';

const COOKIE = 'bds_session';
const LARGEST_FORM = 4_096;

/** The pages need no script, no image and nothing from elsewhere, so a browser loads nothing else from them. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
  // With "no-referrer", browsers would not say from where a form comes.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

export interface WebOptions {
  /** Connects with an operator's credential. */
  connectAs(credential: string): Connection;
  /** Whether browsers reach the pages by https, so that they must send the cookie by nothing else. */
  isBehindHttps: boolean;
  /** Gets a line about each sign-in, without any credential. */
  say(line: string): void;
}

/**
 * The operators' pages of accounts' usage. An operator signs in with the own credential, which the server keeps in memory for the
 * session and sends to the admin ports, as `bds` does. So the pages show nothing that the operator may not read.
 */
export function createWeb({ connectAs, isBehindHttps, say }: WebOptions): FastifyInstance {
  const app = fastify({ bodyLimit: LARGEST_FORM, requestTimeout: 30_000, forceCloseConnections: true });
  const sessions = createSessions();
  app.addHook('onClose', async () => sessions.endAll());
  app.addHook('onRequest', async (_request, reply) => void reply.headers(HEADERS));
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
  );

  const sendPage = (reply: FastifyReply, status: number, text: string) =>
    reply.code(status).type('text/html; charset=utf-8').send(text);
  const setCookie = (reply: FastifyReply, value: string, seconds: number) =>
    reply.header(
      'Set-Cookie',
      `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isBehindHttps ? '; Secure' : ''}`,
    );

  app.setNotFoundHandler((request, reply) =>
    sendPage(
      reply,
      404,
      messagePage('Not found', 'There is no such page.', sessions.of(idOf(request))?.operator),
    ),
  );
  app.setErrorHandler((error, request, reply) => {
    const operator = sessions.of(idOf(request))?.operator;
    const { status, title, text } = problemOf(error);
    if (status === 401) {
      sessions.end(idOf(request));
      return sendPage(reply, status, signInPage(text));
    }
    return sendPage(reply, status, messagePage(title, text, operator));
  });

  app.get('/style.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(STYLE));

  app.get('/sign-in', (_request, reply) => sendPage(reply, 200, signInPage()));

  app.post<{ Body: { credential?: string } | undefined }>('/sign-in', async (request, reply) => {
    requireOwnForm(request);
    const credential = request.body?.credential?.trim() ?? '';
    if (credential === '') return sendPage(reply, 401, signInPage('Give your operator credential.'));
    const connection = connectAs(credential);
    try {
      const { operator } = await connection.diagnosis('accounts').call((client) => client.diagnose, {});
      sessions.end(idOf(request));
      const id = sessions.begin({ operator, connection });
      say(`${operator} has signed in from ${request.ip}`);
      return setCookie(reply, id, 8 * 3_600).redirect('/', 303);
    } catch (error) {
      connection.close();
      say(`a sign-in from ${request.ip} was refused`);
      throw error;
    }
  });

  app.post('/sign-out', async (request, reply) => {
    requireOwnForm(request);
    sessions.end(idOf(request));
    return setCookie(reply, '', 0).redirect('/sign-in', 303);
  });

  /** Runs the handler for an operator who has signed in. Sends all others to the form. */
  const signedIn =
    (handle: (request: FastifyRequest, session: Session) => Promise<{ status: number; text: string }>) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const session = sessions.of(idOf(request));
      if (!session) return reply.redirect('/sign-in', 303);
      const { status, text } = await handle(request, session);
      return sendPage(reply, status, text);
    };

  app.get(
    '/',
    signedIn(async (request, { operator, connection }) => {
      const { search = '', from: given = '0' } = textsOf(request.query);
      const month = monthFrom(request.query);
      const from = /^\d{1,6}$/.test(given) ? Number(given) : 0;
      const wanted = { month, search: search.trim().slice(0, 100), from };
      const found = await readMonthOfAll(connection, { ...wanted, count: ACCOUNTS_ON_A_PAGE });
      return { status: 200, text: overviewPage(found, { ...wanted, operator }) };
    }),
  );

  app.get(
    '/accounts/:id',
    signedIn(async (request, { operator, connection }) => {
      const { id = '' } = textsOf(request.params);
      const month = monthFrom(request.query);
      const found = await readMonthOfOne(connection, { id, month });
      if (!found) {
        const text = `There is no account ${id}, and metering has no calls of it.`;
        return { status: 404, text: messagePage('No such account', text, operator) };
      }
      return { status: 200, text: accountPage(found, { month, operator }) };
    }),
  );
  return app;
}

function idOf({ headers }: FastifyRequest): string | undefined {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{43})(?:;|$)`).exec(headers.cookie ?? '')?.[1];
}

/** Refuses forms of other sites. Browsers say from where a form comes. */
function requireOwnForm({ headers }: FastifyRequest): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'] ?? 'same-origin';
  const isOwn = site === 'same-origin' && (origin === undefined || URL.parse(origin)?.host === host);
  if (!isOwn)
    throw new Fault('permission_denied', 'This form was sent by another site. Open the page itself.');
}

function textsOf(given: unknown): Partial<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(Object(given)).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
}

/** The month of a query. By default the current one. */
function monthFrom(query: unknown): string {
  const { month = monthOf(Date.now()) } = textsOf(query);
  if (!isMonth(month)) throw new Fault('invalid_argument', 'Write a month as YYYY-MM, for example 2026-11.');
  if (month > monthOf(Date.now())) throw new Fault('invalid_argument', `${month} has not begun yet.`);
  return month;
}

/** What an error means for the operator. The texts of Faults are for operators. */
function problemOf(error: unknown): { status: number; title: string; text: string } {
  const { kind, message } = error instanceof Fault ? error : { kind: undefined, message: '' };
  if (kind === 'unauthenticated')
    return { status: 401, title: 'Sign in', text: 'Accounts does not accept this credential.' };
  if (kind === 'permission_denied') return { status: 403, title: 'Not allowed', text: message };
  if (kind === 'invalid_argument') return { status: 400, title: 'Wrong request', text: message };
  if (kind === 'unavailable') return { status: 503, title: 'Not available', text: message };
  const { statusCode } = Object(error) as { statusCode?: number };
  if (statusCode !== undefined && statusCode < 500)
    return { status: statusCode, title: 'Wrong request', text: 'The server cannot read this request.' };
  return {
    status: 500,
    title: 'Failed',
    text: 'The page could not be made. Try again; bds usage shows the same figures.',
  };
}
