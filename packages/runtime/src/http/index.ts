/** Public HTTP servers on Fastify. Only services that have one load this part. */

export { chooseEncoding, compress, type Encoding, etagOf, matchesTag, tagOf } from './encoding.ts';
export {
  type CommonCode,
  encodeProblem,
  HttpProblem,
  httpProblemFrom,
  type ProblemDetails,
  type ProblemKind,
} from './problem.ts';
export { createPublicServer, type HttpAnswer, PUBLIC_SERVER, type PublicService } from './public-server.ts';
export { originForm } from './requests.ts';
export { ALLOWED_METHODS, routesOf } from './routes.ts';
export { answerUnreadable } from './unreadable.ts';
