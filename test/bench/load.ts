import { connect } from 'node:net';

/** The results of a load. */
export interface LoadResult {
  calls: number;
  byStatus: Map<number, number>;
  callsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

/**
 * Makes calls one after another on a bare socket, since the client must use far less processor time than the server that it
 * measures. Resolves when `next` returns no path or the server closes the connection.
 *
 * @param next returns the path of the next call; undefined: there is none
 */
export function callOver(
  target: string,
  { next, answered }: { next: () => string | undefined; answered: (status: number, tookMs: number) => void },
): Promise<void> {
  const { hostname, port, host } = new URL(target);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  return new Promise<void>((resolve, reject) => {
    let sentAt = 0;
    let received = '';
    const send = () => {
      const path = next();
      if (path === undefined) {
        socket.end();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    };
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const head = received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < head + 4 + length) return;
      const status = Number(received.slice(9, 12));
      received = '';
      answered(status, performance.now() - sentAt);
      send();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.on('connect', send);
  });
}

/** Keeps `connections` busy for `forMs`, or until `calls` calls were made. Uses the paths in turn. */
export async function runLoad(
  target: string,
  {
    paths,
    connections,
    forMs,
    calls = Number.POSITIVE_INFINITY,
  }: { paths: readonly string[]; connections: number; forMs: number; calls?: number },
): Promise<LoadResult> {
  const byStatus = new Map<number, number>();
  const latencies: number[] = [];
  const began = performance.now();
  const endAt = began + forMs;
  let sent = 0;
  const drive = () =>
    callOver(target, {
      next: () => (sent >= calls || performance.now() >= endAt ? undefined : paths[sent++ % paths.length]),
      answered: (status, tookMs) => {
        byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
        latencies.push(tookMs);
      },
    });
  await Promise.all(Array.from({ length: connections }, drive));
  const tookMs = performance.now() - began;
  return {
    calls: latencies.length,
    byStatus,
    callsPerSecond: (latencies.length / tookMs) * 1000,
    ...percentilesOf(latencies),
  };
}

/** Percentiles in milliseconds. 0 if there are no latencies. */
export function percentilesOf(latencies: readonly number[]): { p50: number; p99: number } {
  const sorted = latencies.toSorted((a, b) => a - b);
  const percentile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { p50: percentile(0.5), p99: percentile(0.99) };
}
