import { fastify } from 'fastify';

/**
 * The baseline of benches: bare Fastify that gives every request the bytes of one true answer. It sends its own URL to the parent,
 * and answers every message with the processor time that it has used.
 *
 * Arguments: the URL of the answer, and which headers it repeats: "all" or a name.
 */
const [url = '', which] = process.argv.slice(2);
/** Node itself adds these. */
const OF_NODE = ['connection', 'content-length', 'date', 'keep-alive'];

const response = await fetch(url);
const body = Buffer.from(await response.arrayBuffer());
const headers = [...response.headers].filter(([name]) =>
  which === 'all' ? !OF_NODE.includes(name) : name === which,
);

const app = fastify({ logger: false });
app.get('*', (_request, reply) => {
  for (const [name, value] of headers) reply.header(name, value);
  reply.send(body);
});
process.on('message', () => process.send?.(process.cpuUsage()));
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
