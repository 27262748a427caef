import { connect, type Socket } from 'node:net';

/** What a load got. */
export interface LoadResult {
  calls: number;
  byStatus: Map<number, number>;
  callsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

/**
 * Keeps `connections` busy with one request each for `forMs`, or until there were `calls`, over bare sockets: the client
 * must cost less than what it measures. Paths are taken in turn.
 */
export async function runLoad(
  target: string,
  {
    paths,
    connections,
    forMs,
    calls = Number.POSITIVE_INFINITY,
  }: { paths: readonly string[]; connections: number; forMs: number; calls?: number },
): Promise<LoadResult> {
  const { hostname, port, host } = new URL(target);
  const requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
  const byStatus = new Map<number, number>();
  const latencies: number[] = [];
  const began = performance.now();
  const endAt = began + forMs;
  let next = 0;

  const drive = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      let sentAt = 0;
      let received = '';
      const send = () => {
        if (next >= calls || performance.now() >= endAt) {
          socket.end();
          resolve();
          return;
        }
        sentAt = performance.now();
        socket.write(requests[next++ % requests.length] ?? '');
      };
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
        const head = received.indexOf('\r\n\r\n');
        if (head < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
        if (received.length < head + 4 + length) return;
        const status = Number(received.slice(9, 12));
        byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
        latencies.push(performance.now() - sentAt);
        received = '';
        send();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve());
      socket.on('connect', send);
    });

  await Promise.all(
    Array.from({ length: connections }, () =>
      drive(connect({ host: hostname, port: Number(port), noDelay: true })),
    ),
  );
  const tookMs = performance.now() - began;
  latencies.sort((a, b) => a - b);
  const percentile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    calls: latencies.length,
    byStatus,
    callsPerSecond: (latencies.length / tookMs) * 1000,
    p50: percentile(0.5),
    p99: percentile(0.99),
  };
}
