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

export interface Load {
  /** Used in turn, or a function that returns the path of the next call. */
  paths: readonly string[] | (() => string);
  connections: number;
  forMs: number;
  /** After this many calls the load ends, although `forMs` has not passed. */
  calls?: number;
  /**
   * Makes calls at this even rate, however long the answers take. If a call is due while its connection is still busy, its latency
   * begins when it was due, so a slow answer also shows in the latencies of the calls behind it. By default connections are always
   * busy.
   */
  callsPerSecond?: number;
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

/** Makes calls over all connections until the load ends. */
export async function runLoad(target: string, load: Load): Promise<LoadResult> {
  const { paths, connections, forMs, calls = Number.POSITIVE_INFINITY, callsPerSecond } = load;
  const byStatus = new Map<number, number>();
  const latencies: number[] = [];
  const began = performance.now();
  let sent = 0;
  const nextPath = (dueMs = performance.now()) => {
    if (sent >= calls || dueMs >= began + forMs) return undefined;
    sent += 1;
    return typeof paths === 'function' ? paths() : paths[(sent - 1) % paths.length];
  };
  const drive = (_: unknown, connection: number) => {
    const everyMs = (connections * 1_000) / (callsPerSecond ?? Number.POSITIVE_INFINITY);
    let dueMs = began + (connection / connections - 1) * everyMs;
    let lateMs = 0;
    const nextInTime = async () => {
      dueMs += everyMs;
      const earlyMs = dueMs - performance.now();
      if (earlyMs > 0) await delay(earlyMs);
      lateMs = Math.max(0, -earlyMs);
      return nextPath(dueMs);
    };
    return callOver(target, {
      next: callsPerSecond === undefined ? nextPath : nextInTime,
      answered: (status, tookMs) => {
        byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
        latencies.push(lateMs + tookMs);
      },
    });
  };
  await Promise.all(Array.from({ length: connections }, drive));
  const seconds = (performance.now() - began) / 1_000;
  const made = latencies.length;
  return { calls: made, byStatus, callsPerSecond: made / seconds, ...percentilesOf(latencies) };
}

/** Makes the calls one at a time. Returns their latencies in milliseconds. */
export async function latenciesOf(calls: number, call: () => Promise<unknown>): Promise<number[]> {
  const latencies: number[] = [];
  for (let made = 0; made < calls; made++) {
    const began = performance.now();
    await call();
    latencies.push(performance.now() - began);
  }
  return latencies;
}

/** Percentiles in milliseconds. 0 if there are no latencies. */
export function percentilesOf(latencies: readonly number[]): { p50: number; p99: number } {
  const sorted = latencies.toSorted((a, b) => a - b);
  const percentile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { p50: percentile(0.5), p99: percentile(0.99) };
}
