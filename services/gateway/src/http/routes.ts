import { HttpProblem, routesOf } from '@brand-data/runtime/http';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { BlockedAddresses } from '../admission/blocked-addresses.ts';
import type { CallAnswer } from '../answers/answer.ts';
import { ProblemError, problemErrorFrom } from '../answers/problem.ts';
import { type CallerClaims, type ParsedQuery, queryValues, readCaller } from '../auth/caller.ts';
import { answerCall, type CallParts } from '../calls/answer-call.ts';
import { answerSearch, type Search } from '../calls/answer-search.ts';
import { answerUsage, type UsageAnswers } from '../calls/answer-usage.ts';
import type { McpAnswer, McpRequest } from '../mcp/answer-mcp.ts';
import type { Path } from '../openapi/responses.ts';
import type { Pages } from '../pages/pages.ts';
import { createStaticFile, type FileAnswer } from '../pages/static-file.ts';
import type { Variant } from '../records/catalog-answer.ts';

/** The name of each route in metrics, by its path in the OpenAPI document. */
const NAMES: Record<Path, string> = {
  '/v1/brands/{identifier}': 'brands',
  '/api/logos/{identifier}/info': 'logos',
  '/api/logos/{identifier}': 'logos',
  '/v1/search': 'search',
  '/v1/usage': 'usage',
  '/openapi.json': 'openapi',
  '/docs/errors': 'docs',
};

/** Fastify's pattern for a path of the OpenAPI document. */
const patternOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');

const ROUTE_NAMES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(NAMES).map(([path, name]): [string, string] => [patternOf(path), name]),
  ['/mcp', 'mcp'],
]);

/** Returns the name of a route in metrics and logs. `pattern` is Fastify's; undefined: no route matches the request. */
export function routeName(pattern: string | undefined): string {
  if (pattern === undefined) return 'none';
  // All other routes are files of packages/site.
  return ROUTE_NAMES.get(pattern) ?? (/^\/docs(\/|$)/.test(pattern) ? 'docs' : 'pages');
}

declare module 'fastify' {
  interface FastifyRequest {
    /** undefined: the route needs no token, or the request has not reached its handler. */
    caller: CallerClaims | undefined;
  }
}

type WithQuery = FastifyRequest<{ Querystring: ParsedQuery }>;
type WithIdentifier = FastifyRequest<{ Params: { identifier: string }; Querystring: ParsedQuery }>;

export interface RouteParts extends CallParts {
  blocked: Pick<BlockedAddresses, 'refusalOf'>;
  search: Search;
  usageAnswers: UsageAnswers;
  /** The OpenAPI document. */
  description: string;
  pages: Pages;
  /** Answers requests of /mcp. undefined: there is no such route. */
  answerMcp?: ((request: McpRequest) => Promise<McpAnswer>) | undefined;
}

export interface AnswerSenders {
  send(reply: FastifyReply, answer: CallAnswer): FastifyReply;
  /** Sends an answer that is not counted, when the pace of the account allows it, or that of the address without an account. */
  sendUncounted(
    reply: FastifyReply,
    answer: CallAnswer,
    options?: { accountId?: string | undefined; cost?: number },
  ): Promise<FastifyReply>;
}

/** An answer of /v1/usage may be long. */
const USAGE_COST = 10;
/** A preflight may belong to a good call, and all callers behind a proxy that is not trusted share one pace. */
const PREFLIGHT_COST = 0.1;

/** More than ten look-ups of the longest identifiers. */
const MCP_BODY_BYTES = 64 * 1_024;

/** Adds the routes of the public API. */
export function addRoutes(
  app: FastifyInstance,
  parts: RouteParts,
  { send, sendUncounted }: AnswerSenders,
): void {
  app.decorateRequest('caller', undefined);
  const callerOf = (request: WithQuery): CallerClaims => {
    const caller = readCaller(request.query, request.headers, () => request.ip);
    request.caller = caller;
    return caller;
  };
  // No async function: it and Fastify's wait for it would make three more promises for each call.
  const brand = (variant: Variant, asImage: boolean) => (request: WithIdentifier, reply: FastifyReply) => {
    const { params, query, headers } = request;
    const call = {
      caller: callerOf(request),
      variant,
      asImage,
      segment: params.identifier,
      query,
      ifNoneMatch: headers['if-none-match'],
      acceptEncoding: headers['accept-encoding']?.toString(),
      connection: request.raw.socket,
    };
    answerCall(parts, call)
      .then((answer) => {
        send(reply, answer);
      })
      .catch((error) => {
        reply.send(problemErrorFrom(error));
      });
  };
  const search = async (request: WithQuery, reply: FastifyReply) => {
    const { query, headers } = request;
    const { accountId, ...answer } = await answerSearch(parts, {
      caller: callerOf(request),
      query,
      ifNoneMatch: headers['if-none-match'],
      acceptEncoding: headers['accept-encoding']?.toString(),
      signal: abandonedBy(reply),
    });
    return sendUncounted(reply, answer, { accountId });
  };
  const usage = async (request: WithQuery, reply: FastifyReply) => {
    const months = queryValues(request.query, 'month');
    const { accountId, ...answer } = await answerUsage(parts, { months, caller: callerOf(request) });
    return sendUncounted(reply, answer, { accountId, cost: USAGE_COST });
  };

  const file = (answer: FileAnswer) => async (request: FastifyRequest, reply: FastifyReply) =>
    sendUncounted(reply, await answer(request.headers));
  const openApi = createStaticFile(Buffer.from(parts.description), {
    type: 'application/json; charset=utf-8',
    headers: { 'Cache-Control': 'public, max-age=3600' },
  });

  const add = routesOf(app, (reply, preflight) => sendUncounted(reply, preflight, { cost: PREFLIGHT_COST }));
  app.addHook('onRequest', (request, reply, next) => {
    const refusal = parts.blocked.refusalOf(request);
    if (refusal || !request.is404) return next(refusal);
    if (!isOfBrowser(request)) return next(routeNotFound());
    sendUncounted(reply, parts.pages.notFound(request.url.split('?', 1)[0] ?? '')).catch(next);
  });
  // The page of errors is among the pages.
  const handlers: Record<Exclude<Path, '/docs/errors'>, RouteHandlerMethod> = {
    '/v1/brands/{identifier}': brand('grouped', false) as RouteHandlerMethod,
    '/api/logos/{identifier}/info': brand('flat', false) as RouteHandlerMethod,
    '/api/logos/{identifier}': brand('flat', true) as RouteHandlerMethod,
    '/v1/search': search as RouteHandlerMethod,
    '/v1/usage': usage as RouteHandlerMethod,
    '/openapi.json': file(openApi),
  };
  for (const [path, handler] of Object.entries(handlers)) add(patternOf(path), handler);
  for (const [path, answer] of parts.pages.byPath) add(path, file(answer));
  const { answerMcp } = parts;
  if (!answerMcp) return;
  // This route alone takes POST, and reads a body.
  const mcp = async (request: WithQuery, reply: FastifyReply) => {
    const { headers, body, id: requestId } = request;
    const { accountId, cost, ...content } = await answerMcp({
      caller: callerOf(request),
      headers,
      body,
      requestId,
      connection: request.raw.socket,
      signal: abandonedBy(reply),
    });
    return cost === undefined ? send(reply, content) : sendUncounted(reply, content, { accountId, cost });
  };
  add('/mcp', mcp as RouteHandlerMethod, {
    method: 'POST',
    bodyLimit: MCP_BODY_BYTES,
    errorHandler: (error, request, reply) => app.errorHandler(unreadableBody(error), request, reply),
  });
}

/** Whether somebody has opened the URL in a browser: programs do not ask for HTML. */
function isOfBrowser({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && (headers.accept?.includes('text/html') ?? false);
}

/** Returns a signal that is aborted when the caller can get no answer any more. */
function abandonedBy({ raw }: FastifyReply): AbortSignal {
  const abandoned = new AbortController();
  // The connection of an answered request closes too. To abort then would create an error that nobody reads.
  raw.once('close', () => {
    if (!raw.writableEnded) abandoned.abort();
  });
  return abandoned.signal;
}

/** Returns a problem in place of Fastify's own errors about a request's body. */
function unreadableBody(error: Error & { statusCode?: number }): Error {
  if (error instanceof HttpProblem || (error.statusCode ?? 500) >= 500) return error;
  const detail = `Send JSON with the Content-Type application/json, at most ${MCP_BODY_BYTES} bytes.`;
  return new ProblemError('request_invalid', detail, { Connection: 'close' });
}

function routeNotFound(): ProblemError {
  const detail =
    'The routes are /v1/brands/{identifier}, /api/logos/{identifier}/info, /api/logos/{identifier}, /v1/search and /v1/usage. /openapi.json describes them.';
  return new ProblemError('route_not_found', detail);
}
