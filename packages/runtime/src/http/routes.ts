import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { HttpProblem } from './problem.ts';

/** The methods of every route. A public server answers 405 to every other method. */
export const ALLOWED_METHODS = 'GET, HEAD, OPTIONS';
/** The methods that Node parses but no route serves. Node passes no CONNECT to the request handler, so it is not listed. */
const OTHER_METHODS = METHODS.filter((method) => !['GET', 'HEAD', 'OPTIONS', 'CONNECT'].includes(method));

/**
 * Returns the function that adds a route. The hook onRequest answers OPTIONS and other methods before Fastify reads a body, so a
 * body of any Content-Type may come.
 */
export function routesOf(
  app: FastifyInstance,
  sendPreflight: (reply: FastifyReply, answer: ReturnType<typeof preflight>) => unknown,
): (url: string, handler: RouteHandlerMethod) => void {
  for (const method of OTHER_METHODS)
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true });
  const answerPreflight = async ({ headers }: FastifyRequest, reply: FastifyReply) =>
    sendPreflight(reply, preflight(headers['access-control-request-headers']));
  return (url, handler) => {
    app.route({ method: ['GET', 'HEAD'], url, handler });
    app.route({ method: 'OPTIONS', url, onRequest: answerPreflight, handler: answerPreflight });
    app.route({ method: OTHER_METHODS, url, onRequest: refuseMethod, handler: refuseMethod });
  };
}

async function refuseMethod(): Promise<never> {
  throw new HttpProblem('method_not_allowed', `Use one of ${ALLOWED_METHODS}.`, { Allow: ALLOWED_METHODS });
}

/** Names of headers with commas and spaces between them. Anything else is not repeated. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]+$/;

/**
 * Returns the answer to an OPTIONS request. It allows every header that the browser asks for: a page that sends its token in a
 * header gets a 401 that says where the token belongs, and could not read it if the preflight were refused. `*` does not allow
 * Authorization. Browsers cache the answer for a day.
 *
 * @param requested the request's Access-Control-Request-Headers
 */
function preflight(requested: string | undefined) {
  const isRepeated = requested !== undefined && HEADER_NAMES.test(requested);
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': ALLOWED_METHODS,
      'Access-Control-Allow-Headers': isRepeated ? requested : '*',
      'Access-Control-Max-Age': '86400',
      Vary: 'Access-Control-Request-Headers',
    },
  };
}
