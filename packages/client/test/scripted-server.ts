import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedAnswer {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON, a string as it is. */
  body?: unknown;
  /** The request is never answered. */
  isSilent?: boolean;
}

export interface ScriptedServer {
  url: string;
  requests: { path: string; query: URLSearchParams; headers: IncomingHttpHeaders; hasEnded: boolean }[];
  stop(): Promise<void>;
}

/** Starts a server that gives these answers one after another, and goes on with the last. */
export async function startScriptedServer(...answers: ScriptedAnswer[]): Promise<ScriptedServer> {
  const requests: ScriptedServer['requests'] = [];
  const server = createServer((request, response) => {
    const [path = '', query] = (request.url ?? '').split('?');
    const seen = { path, query: new URLSearchParams(query), headers: request.headers, hasEnded: false };
    response.on('close', () => {
      seen.hasEnded = true;
    });
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push(seen);
    if (answer === undefined || answer.isSilent) return;
    const { status, headers = {}, body = '' } = answer;
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
