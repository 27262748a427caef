import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

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
 * @param next returns the path of the next call, or a promise if the call has to wait for its time; undefined: there is none
 */
export function callOver(
  target: string,
  {
    next,
    answered,
  }: {
    next: () => string | undefined | Promise<string | undefined>;
    answered: (status: number, tookMs: number) => void;
  },
): Promise<void> {
  const { hostname, port, host } = new URL(target);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  return new Promise<void>((resolve, reject) => {
    let sentAt = 0;
    let received = '';
    const sendNext = () => {
      const path = next();
      if (path instanceof Promise) path.then(send, reject);
      else send(path);
    };
    const send = (path: string | undefined) => {
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
      sendNext();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.on('connect', sendNext);
  });
}

/** The paths of calls: some that are used in turn, or a function that returns the path of the next call. */
export type Paths = readonly string[] | (() => string);

/** Keeps `connections` busy for `forMs`, or until `calls` calls were made. */
export async function runLoad(
  target: string,
  {
    paths,
    connections,
    forMs,
    calls = Number.POSITIVE_INFINITY,
  }: { paths: Paths; connections: number; forMs: number; calls?: number },
): Promise<LoadResult> {
  const byStatus = new Map<number, number>();
  const latencies: number[] = [];
  const began = performance.now();
  const endAt = began + forMs;
  const nextPath = inTurn(paths);
  let sent = 0;
  const drive = () =>
    callOver(target, {
      next: () => {
        if (sent >= calls || performance.now() >= endAt) return undefined;
        sent += 1;
        return nextPath();
      },
      answered: (status, tookMs) => {
        byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
        latencies.push(tookMs);
      },
    });
  await Promise.all(Array.from({ length: connections }, drive));
  return resultOf(latencies, byStatus, performance.now() - began);
}

/**
 * Makes calls at an even rate for `forMs`, however long the answers take. If a call is due while its connection is still busy, its
 * latency begins when it was due, so a slow answer also shows in the latencies of the calls behind it.
 */
export async function runSteadyLoad(
  target: string,
  {
    paths,
    connections,
    forMs,
    callsPerSecond,
  }: { paths: Paths; connections: number; forMs: number; callsPerSecond: number },
): Promise<LoadResult> {
  const byStatus = new Map<number, number>();
  const latencies: number[] = [];
  const everyMs = (connections * 1_000) / callsPerSecond;
  const nextPath = inTurn(paths);
  const began = performance.now();
  const drive = (connection: number) => {
    let dueMs = began + (connection / connections - 1) * everyMs;
    let lateMs = 0;
    return callOver(target, {
      next: async () => {
        dueMs += everyMs;
        if (dueMs >= began + forMs) return undefined;
        const earlyMs = dueMs - performance.now();
        if (earlyMs > 0) await delay(earlyMs);
        lateMs = Math.max(0, -earlyMs);
        return nextPath();
      },
      answered: (status, tookMs) => {
        byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
        latencies.push(lateMs + tookMs);
      },
    });
  };
  await Promise.all(Array.from({ length: connections }, (_, connection) => drive(connection)));
  return resultOf(latencies, byStatus, performance.now() - began);
}

function inTurn(paths: Paths): () => string {
  if (typeof paths === 'function') return paths;
  let used = 0;
  return () => paths[used++ % paths.length] ?? '';
}

function resultOf(latencies: readonly number[], byStatus: Map<number, number>, tookMs: number): LoadResult {
  return {
    calls: latencies.length,
    byStatus,
    callsPerSecond: (latencies.length / tookMs) * 1_000,
    ...percentilesOf(latencies),
  };
}

/** Percentiles in milliseconds. 0 if there are no latencies. */
export function percentilesOf(latencies: readonly number[]): { p50: number; p99: number } {
  const sorted = latencies.toSorted((a, b) => a - b);
  const percentile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { p50: percentile(0.5), p99: percentile(0.99) };
}
