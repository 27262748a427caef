import type { Server } from 'node:http';

const CLOSE_WITHIN_MS = 5_000;

/**
 * Answers all accepted requests and closes each connection as soon as it is idle. After CLOSE_WITHIN_MS it closes the remaining
 * connections too. Resolves when all are closed.
 */
export async function closeHttpServer(app: { server: Server; close(): PromiseLike<unknown> }): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), 50);
  // Node does not count a connection as idle if no request ever came on it.
  const late = setTimeout(() => app.server.closeAllConnections(), CLOSE_WITHIN_MS);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}
