import { networkOf, type Service } from '@brand-data/runtime';
import {
  createPublicServer,
  encodeProblem,
  type HttpAnswer,
  originForm,
  type ProblemDetails,
  type PublicService,
  routesOf,
} from '@brand-data/runtime/http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import { BASE } from '../image/image.ts';
import type { Pictures } from '../pictures/pictures.ts';
import { answerImage, IMAGE_HEADERS, type ImageLabels } from './answer.ts';
import { errorsPage, IMAGE_PROBLEMS, imageProblemFrom } from './problem.ts';

const ERRORS_PATH = `${BASE}errors`;
const NOTHING: ImageLabels = { kind: 'none', format: 'none' };
const MOST_CONNECTIONS = 10_000;

/** Creates the public HTTP server. `answerImage` decides how a request is answered. */
export function createImageServer(
  service: PublicService,
  pictures: Pick<Pictures, 'find'>,
  trustedProxies: readonly string[],
): FastifyInstance {
  const count = countImageAnswers(service);
  const askedOf = new WeakMap<FastifyRequest, ImageLabels>();
  const { app, endTrace } = createPublicServer(service, {
    // `answerImage` reads the whole URL itself, so there is one route.
    options: { rewriteUrl: () => '/' },
    trustedProxies,
    describe: () => ({ name: 'image' }),
    problemFrom: imageProblemFrom,
    sendProblem: (reply, { problem }) =>
      send(reply, answerOfProblem(problem, { requestId: reply.request.id })),
    unreadable: (problem, context) => {
      const answer = answerOfProblem(problem, context);
      return { ...answer, headers: { ...IMAGE_HEADERS, ...answer.headers } };
    },
    answeredUnreadable: (status) => count(NOTHING, status),
  });
  app.server.maxConnections = MOST_CONNECTIONS;

  const send = (reply: FastifyReply, { status, headers, body }: HttpAnswer) => {
    const { request } = reply;
    const asked = askedOf.get(request) ?? NOTHING;
    count(asked, status, performance.now() - request.arrivedMs);
    endTrace(request, status, { 'image.kind': asked.kind, 'image.format': asked.format });
    reply.code(status).headers(IMAGE_HEADERS).headers(headers);
    // While this replica drains, callers have to open new connections, which load balancers send to other replicas.
    if (!service.readiness.started) reply.header('connection', 'close');
    return reply.send(body);
  };

  const errors = errorsPage();
  routesOf(app, send)('/', (request, reply) => {
    const url = originForm(request.originalUrl);
    if (url === ERRORS_PATH) return send(reply, errors);
    const asked = { ...NOTHING };
    askedOf.set(request, asked);
    const caller = { headers: request.headers, client: networkOf(request.ip) };
    const answer = answerImage(pictures, url, caller, asked);
    return answer instanceof Promise ? answer.then((made) => send(reply, made)) : send(reply, answer);
  });
  return app;
}

function answerOfProblem<Code extends keyof typeof IMAGE_PROBLEMS>(
  problem: ProblemDetails<Code>,
  context: { requestId: string; status?: number },
) {
  const headers = { 'X-Request-Id': context.requestId, ...problem.headers };
  return encodeProblem({ ...problem, headers }, IMAGE_PROBLEMS, { docsUrl: ERRORS_PATH, ...context });
}

/** Registers the metrics of answers, which never hold a URL, and returns the function that counts and times an answer. */
function countImageAnswers({ metrics }: Pick<Service, 'metrics'>) {
  const requests = new Counter({
    name: 'images_http_requests_total',
    help: 'Answers to callers, by kind of image, format of the answer and status',
    labelNames: ['kind', 'format', 'status'],
    registers: [metrics],
  });
  // Without these series, Prometheus would not see the first failure as an increase.
  for (const status of [500, 503]) requests.inc({ kind: 'logo', format: 'none', status }, 0);
  const duration = new Histogram({
    name: 'images_http_request_duration_seconds',
    help: 'Seconds from a request to its answer, by status',
    labelNames: ['status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [metrics],
  });
  return ({ kind, format }: ImageLabels, status: number, tookMs?: number) => {
    requests.inc({ kind, format, status });
    if (tookMs !== undefined) duration.observe({ status }, tookMs / 1000);
  };
}
