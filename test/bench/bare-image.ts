import { fastify } from 'fastify';

/**
 * The baseline for images: Fastify that answers with the bytes and the type of the answer to the URL that it is started with. It
 * sends its own URL to the parent, and answers every message with the processor time that it has used.
 */
const response = await fetch(process.argv[2] ?? '');
const body = Buffer.from(await response.arrayBuffer());
const type = response.headers.get('content-type') ?? '';
const app = fastify({ logger: false });
app.get('/images/*', (_request, reply) => {
  reply.header('content-type', type).send(body);
});
process.on('message', () => process.send?.(process.cpuUsage()));
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
