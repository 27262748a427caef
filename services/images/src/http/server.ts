import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import {
  answerUnreadable,
  encodeProblem,
  ignoreExpectations,
  limitBody,
  originForm,
  PUBLIC_SERVER,
  problemOfHost,
  type Service,
} from '@brand-data/runtime';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { BASE } from '../image-path.ts';
import type { Pictures } from '../pictures.ts';
import {
  ALLOWED_METHODS,
  type Answer,
  type Asked,
  answerImage,
  COMMON_HEADERS,
  preflight,
} from './answer.ts';
import { errorsPage } from './errors-page.ts';
import { observeRequests } from './observe-requests.ts';
import { PROBLEMS, ProblemError, problemErrorFrom } from './problem.ts';

const ERRORS_PATH = `${BASE}errors`;
const NOTHING: Asked = { kind: 'none', format: 'none' };
const MOST_CONNECTIONS = 10_000;
/** Node passes no CONNECT to the request handler. */
const OTHER_METHODS = METHODS.filter((method) => !['GET', 'HEAD', 'OPTIONS', 'CONNECT'].includes(method));

/** Creates the public HTTP server. `answerImage` decides how a request is answered. */
export function createHttpServer(
  service: Pick<Service, 'log' | 'metrics' | 'tracer' | 'trustsTraceOf'> & {
    readiness: { started: boolean };
  },
  pictures: Pictures,
): FastifyInstance {
  const { log, readiness } = service;
  const app = fastify({
    // Fastify's own request log would contain the URL with its query.
    logger: false,
    ...PUBLIC_SERVER,
    exposeHeadRoutes: false,
    // `answerImage` reads the whole URL itself, so there is one route.
    rewriteUrl: () => '/',
    clientErrorHandler: ({ code }, socket) => {
      const status = answerUnreadable(code, socket, ({ status, detail }) => {
        const { headers, body } = problemAnswer(new ProblemError('request_invalid', detail), status);
        return { headers, body };
      });
      if (status !== undefined) observer.countUnreadable(status);
    },
  });
  const observer = observeRequests(app, service);
  ignoreExpectations(app.server);
  app.server.maxConnections = MOST_CONNECTIONS;
  app.addHook('onRequest', (request, _reply, next) => {
    limitBody(request.raw);
    const problem = problemOfHost(request.raw);
    if (problem === undefined) return next();
    next(new ProblemError('request_invalid', problem, { connection: 'close' }));
  });

  const send = (reply: FastifyReply, { status, headers, body }: Answer, asked: Asked = NOTHING) => {
    observer.observe(reply, status, asked);
    reply.code(status).headers(headers);
    // While this replica drains, callers have to open new connections, which load balancers send to other replicas.
    if (!readiness.started) reply.header('connection', 'close');
    return reply.send(body);
  };
  const sendProblem = (reply: FastifyReply, error: unknown, asked?: Asked) => {
    const problem = problemErrorFrom(error);
    const requestId = randomUUID();
    const logged = { err: problem.cause, requestId };
    if (problem.code === 'internal') log.error(logged, 'a request failed');
    else if (problem.code === 'upstream_unavailable') log.warn(logged, 'a request failed');
    return send(reply, problemAnswer(problem, undefined, requestId), asked);
  };
  app.setErrorHandler((error, _request, reply) => sendProblem(reply, error));

  const page = errorsPage('the images', PROBLEMS);
  const errors = { status: 200, headers: { ...COMMON_HEADERS, ...page.headers }, body: page.body };
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: (request, reply) => {
      const { headers } = request;
      const url = originForm(request.originalUrl);
      if (url === ERRORS_PATH) return send(reply, errors);
      const wanted = {
        url,
        accept: headers.accept,
        acceptEncoding: headers['accept-encoding']?.toString(),
        ifNoneMatch: headers['if-none-match'],
      };
      const asked = { ...NOTHING };
      try {
        const answer = answerImage(pictures, wanted, asked);
        if (!(answer instanceof Promise)) return send(reply, answer, asked);
        return answer.then(
          (made) => send(reply, made, asked),
          (error) => sendProblem(reply, error, asked),
        );
      } catch (error) {
        return sendProblem(reply, error, asked);
      }
    },
  });
  // The hook onRequest answers OPTIONS and OTHER_METHODS before Fastify reads a body. So a body of any Content-Type may come.
  const answerPreflight = async ({ headers }: FastifyRequest, reply: FastifyReply) =>
    send(reply, preflight(headers['access-control-request-headers']));
  app.route({ method: 'OPTIONS', url: '/', onRequest: answerPreflight, handler: answerPreflight });
  for (const method of OTHER_METHODS)
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true });
  app.route({ method: OTHER_METHODS, url: '/', onRequest: refuseMethod, handler: refuseMethod });
  return app;
}

async function refuseMethod(): Promise<never> {
  throw new ProblemError('method_not_allowed', `Use one of ${ALLOWED_METHODS}.`, { Allow: ALLOWED_METHODS });
}

function problemAnswer(
  { code, detail, headers }: ProblemError,
  status: number = PROBLEMS[code].status,
  requestId: string = randomUUID(),
): Answer & { body: Buffer } {
  const { title } = PROBLEMS[code];
  const type = `${ERRORS_PATH}#${code}`;
  const encoded = encodeProblem({ type, title, status, detail, code, requestId });
  return {
    status,
    headers: { ...COMMON_HEADERS, ...encoded.headers, 'X-Request-Id': requestId, ...headers },
    body: encoded.body,
  };
}
