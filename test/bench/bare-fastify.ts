import { fastify } from 'fastify';

/** The baseline: Fastify with one static answer as large as a record. */
const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(2_000) }));
const app = fastify({ logger: false });
app.get('/v1/brands/:identifier', (_request, reply) => {
  reply.header('content-type', 'application/json; charset=utf-8').send(body);
});
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
