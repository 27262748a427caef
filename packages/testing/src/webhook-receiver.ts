import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request that a webhook has got. */
export interface Received {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface WebhookReceiver {
  url: string;
  /** Everything that it has got, in this order. */
  received: Received[];
  stop(): Promise<void>;
}

/**
 * Starts a webhook on a random port.
 *
 * @param answer decides on each request: the status, and headers if any. By default it accepts all
 */
export async function startWebhookReceiver(
  answer: (request: Received) => { status: number; headers?: Record<string, string> } = () => ({
    status: 204,
  }),
): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const got = { id: String(request.headers['webhook-id']), headers: request.headers, body };
    received.push(got);
    const { status, headers } = answer(got);
    response.writeHead(status, headers).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notices`,
    received,
    stop: async () => {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}
