import { IDENTIFIER_KINDS } from '@brand-data/identifiers';
import type { Logger } from '@brand-data/runtime';
import { encodeProblem } from '@brand-data/runtime/http';
import {
  type CallToolResult,
  createMcpHandler,
  fromJsonSchema,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type Static, type TProperties, Type } from 'typebox';
import { type CallAnswer, type Content, headersIn } from '../answers/answer.ts';
import { PROBLEMS, ProblemError, problemErrorFrom } from '../answers/problem.ts';
import { answerUncounted, type CallerClaims, type Headers } from '../auth/caller.ts';
import { answerCall, type BrandRequest, type CallParts } from '../calls/answer-call.ts';
import { answerSearch, type SearchParts, type SearchRequest } from '../calls/answer-search.ts';
import { answerUsage, type UsageAnswers } from '../calls/answer-usage.ts';

/** How many messages one request may hold. Clients of revision 2025-03-26 may send several. */
const MOST_MESSAGES = 10;
/** What an answer without a billed look-up costs at the pace of uncounted answers, and what reading usage adds. */
const ANSWER_COST = 1;
const USAGE_COST = 10;

export interface McpParts extends CallParts, SearchParts {
  usageAnswers: UsageAnswers;
  docsUrl: string;
  log: Pick<Logger, 'warn' | 'error'>;
}

/** A request of /mcp as the caller sent it: nothing is checked yet. */
export interface McpRequest extends Pick<BrandRequest, 'connection'>, Pick<SearchRequest, 'signal'> {
  caller: CallerClaims;
  headers: Headers;
  /** The JSON of the body. */
  body: unknown;
  requestId: string;
}

export type McpAnswer = Content & {
  accountId: string;
  /** The cost at the pace of uncounted answers. undefined: a look-up in it is billed. */
  cost: number | undefined;
};

/** No tool changes anything, or reads anything beyond the catalogue and the account. */
const ANNOTATIONS = { readOnlyHint: true, openWorldHint: false };
/** A tool gets the whole body, not compressed. */
const AS_IT_IS = { ifNoneMatch: undefined, acceptEncoding: undefined };

// Compiled once, and not for each request.
const lookUp = inputOf({
  identifier: Type.String({
    description: 'A ticker, a domain, a company name, an ISIN, a CUSIP, a FIGI, an LEI or an investor.',
    minLength: 1,
    maxLength: 256,
  }),
  kind: Type.Optional(
    Type.Enum([...IDENTIFIER_KINDS], {
      description: 'The only kind that the identifier may be.',
      type: 'string',
    }),
  ),
  record: Type.Optional(
    Type.Enum(['full', 'logo'], {
      description: '"logo": the short record with the logo, for plans of logo requests. By default "full".',
      type: 'string',
    }),
  ),
});
const search = inputOf({
  text: Type.String({
    description: 'The beginning of a name, of a word in it, of a ticker or of a domain.',
    minLength: 1,
    maxLength: 256,
  }),
});
const month = inputOf({
  month: Type.Optional(Type.String({ description: 'YYYY-MM in UTC. By default the current month.' })),
});

function inputOf<Properties extends TProperties>(properties: Properties) {
  const schema = Type.Object(properties);
  return fromJsonSchema<Static<typeof schema>>(JSON.parse(JSON.stringify(schema)));
}

/**
 * Answers one request of the Model Context Protocol, without a session and as JSON. A look-up is a call of the public API: it
 * goes through `answerCall`, and the result says whether it is counted. Throws ProblemError unless the token is good and may be
 * used from the request's origin.
 */
export async function answerMcp(parts: McpParts, request: McpRequest): Promise<McpAnswer> {
  request.caller.tokens = tokensOf(request);
  return answerUncounted(parts.tokens, request.caller, async () => {
    if (Array.isArray(request.body)) checkMessages(request.body);
    const bill = { cost: ANSWER_COST, isBilled: false };
    const response = await respond(toolsOf(parts, request, bill), request);
    const type = response.body && (response.headers.get('content-type') ?? 'application/json');
    return {
      cost: bill.isBilled ? undefined : bill.cost,
      status: response.status,
      headers: { 'Cache-Control': 'no-store', ...(type && { 'Content-Type': type }) },
      body: Buffer.from(await response.text()),
    };
  });
}

/**
 * Throws ProblemError if some message could get no answer, although its look-up is billed: the SDK answers messages of one id once,
 * and never a message that another one of the request cancels. It may fail at a response, and nobody was asked for one.
 */
function checkMessages(messages: readonly ({ id?: unknown; method?: unknown } | null)[]): void {
  const ids = messages.map((message) => message?.id).filter((id) => id !== undefined);
  const areFine = messages.every(
    (message) => typeof message?.method === 'string' && message.method !== 'notifications/cancelled',
  );
  if (messages.length <= MOST_MESSAGES && new Set(ids).size === ids.length && areFine) return;
  const detail = `Send at most ${MOST_MESSAGES} requests and notifications together, each request with an id of its own, and none that cancels another.`;
  throw new ProblemError('request_invalid', detail);
}

/** Returns the tokens in the query and in the header Authorization, which clients of the protocol can set more easily. */
function tokensOf({ caller, headers }: McpRequest): string[] {
  const [, token] = /^bearer +(\S+)$/i.exec(headers.authorization?.toString() ?? '') ?? [];
  const tokens = token === undefined ? caller.tokens : [...caller.tokens, token];
  if (tokens.length > 0) return tokens;
  const detail =
    'Give your publishable token in the header `Authorization: Bearer pk_…` or in the query, as in ?token=pk_….';
  throw new ProblemError('token_missing', detail);
}

/** Lets the SDK answer. Clients of revisions up to 2025-11-25 are told apart, because their requests have another form. */
async function respond(server: McpServer, { headers, body }: McpRequest): Promise<Response> {
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name === 'authorization' ? [] : [[name, value.toString()]],
  );
  // The SDK reads neither host nor path.
  const request = new Request('http://gateway/mcp', { method: 'POST', headers: given });
  // Without subscriptions no stream stays open.
  const handler = createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0, keepAliveMs: 0 });
  if (!(await isLegacyRequest(request, body))) return handler.fetch(request, { parsedBody: body });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: body });
  } finally {
    await server.close();
  }
}

/** Returns a server with the tools, for one request. `bill` learns what the answer costs. */
function toolsOf(parts: McpParts, request: McpRequest, bill: { cost: number; isBilled: boolean }): McpServer {
  const { caller, connection } = request;
  const server = new McpServer({ name: 'brand-data', version: '1.0.0' });
  const answered = async (answer: Promise<CallAnswer>): Promise<CallToolResult> => {
    const result = resultOf(await answer.catch((error) => problemOf(error, parts, request)), parts, request);
    if (result.charged) bill.isBilled = true;
    return { content: [{ type: 'text', text: JSON.stringify(result) }], isError: 'problem' in result };
  };
  server.registerTool(
    'look_up_brand',
    {
      title: 'Look up a brand',
      description:
        'Returns what is known of one company, or of one investor: logo, headquarters, people, market data. Each look-up counts against the quota of the token, also if nothing is found: `charged` and `remaining` say so.',
      inputSchema: lookUp,
      annotations: ANNOTATIONS,
    },
    ({ identifier, kind, record }) =>
      answered(
        answerCall(parts, {
          caller,
          connection,
          variant: record === 'logo' ? 'flat' : 'grouped',
          asImage: false,
          // A URL cannot hold half a character, and the lone % is refused as such a URL is.
          segment: identifier.isWellFormed() ? encodeURIComponent(identifier) : '%',
          query: { kind },
          ...AS_IT_IS,
        }),
      ),
  );
  server.registerTool(
    'search_brands',
    {
      title: 'Search brands',
      description:
        'Returns at most ten companies that a text may mean, each with an identifier for look_up_brand. Not counted.',
      inputSchema: search,
      annotations: ANNOTATIONS,
    },
    ({ text }) =>
      answered(answerSearch(parts, { ...AS_IT_IS, caller, signal: request.signal, query: { q: text } })),
  );
  server.registerTool(
    'read_usage',
    {
      title: 'Read the usage',
      description:
        'Returns how many calls the account has used in a month, and how many are left. Not counted.',
      inputSchema: month,
      annotations: ANNOTATIONS,
    },
    ({ month }) => {
      bill.cost += USAGE_COST;
      return answered(answerUsage(parts, { caller, months: month === undefined ? [] : [month] }));
    },
  );
  return server;
}

function problemOf(error: unknown, { log }: McpParts, { requestId }: McpRequest): CallAnswer {
  const { problem, isFailure, cause } = problemErrorFrom(error);
  if (isFailure) log.error({ err: cause, requestId }, 'a tool of /mcp failed');
  return problem;
}

/** Returns what the assistant gets: the body of the call's answer, and what its headers say. */
function resultOf(
  answer: CallAnswer,
  { docsUrl }: McpParts,
  { requestId }: McpRequest,
): { charged: boolean } & Record<string, unknown> {
  const { headers } = answer;
  const charged = headers['X-Quota-Charged'] === '1';
  const [, left] = /"month";r=(\d+)/.exec(headers.RateLimit ?? '') ?? [];
  const quota = { charged, remaining: left === undefined ? null : Number(left) };
  if ('code' in answer) {
    const { body } = encodeProblem(answer, PROBLEMS, { docsUrl, requestId });
    return { ...quota, problem: JSON.parse(body.toString()) };
  }
  const body = JSON.parse(answer.body?.toString() ?? 'null');
  // Only records have a head.
  if (answer.head === undefined) return { ...quota, ...('companies' in body ? body : { usage: body }) };
  const head = new Headers(headersIn(answer.head));
  return {
    ...quota,
    brand_match: head.get('Brand-Match'),
    brand_data: head.get('Brand-Data'),
    last_modified: head.get('Last-Modified'),
    record: body,
  };
}
