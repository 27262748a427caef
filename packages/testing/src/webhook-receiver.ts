import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { startWebServer, type WebServer } from './web-server.ts';

/** A request that a webhook has got. */
export interface Received {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface WebhookReceiver extends WebServer {
  /** Everything that it has got, in this order. */
  received: Received[];
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
  const { url, stop } = await startWebServer(async (request, response) => {
    const body = await text(request);
    const got = { id: String(request.headers['webhook-id']), headers: request.headers, body };
    received.push(got);
    const { status, headers } = answer(got);
    response.writeHead(status, headers).end();
  });
  return { url: `${url}/notices`, received, stop };
}
