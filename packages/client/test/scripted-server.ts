import type { IncomingHttpHeaders } from 'node:http';
import { startWebServer, type WebServer } from '@brand-data/testing/web-server';

export interface ScriptedAnswer {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON, a string as it is. */
  body?: unknown;
  /** The request is never answered. */
  isSilent?: boolean;
}

export interface ScriptedServer extends WebServer {
  requests: { path: string; query: URLSearchParams; headers: IncomingHttpHeaders; hasEnded: boolean }[];
}

/** Starts a server that gives these answers one after another, and goes on with the last. */
export async function startScriptedServer(...answers: ScriptedAnswer[]): Promise<ScriptedServer> {
  const requests: ScriptedServer['requests'] = [];
  const server = await startWebServer((request, response) => {
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
  return { ...server, requests };
}
