/** Public HTTP servers on Fastify. Only services that have one load this part. */

export { answerUnreadable, originForm } from './connections.ts';
export * from './encoding.ts';
export * from './problem.ts';
export * from './public-server.ts';
