/** Public HTTP servers on Fastify. Only services that have one load this part. */

export { answerUnreadable, originForm } from './connections.ts';
export { chooseEncoding, compress, type Encoding, etagOf, matchesTag, tagOf } from './encoding.ts';
export {
  type CommonCode,
  encodeProblem,
  HttpProblem,
  httpProblemFrom,
  type ProblemDetails,
  type ProblemKind,
} from './problem.ts';
export {
  type AddRoute,
  ALLOWED_METHODS,
  createPublicServer,
  type HttpAnswer,
  PUBLIC_SERVER,
  type PublicService,
  routesOf,
} from './public-server.ts';
