import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll } from 'vitest';
import { TestOperator } from '../../e2e/operator.ts';
import { startTestStack, type TestStack, type TestStackOptions } from '../../stack/index.ts';
import { HOUR_MS } from './catalogues.ts';

/** A process that a bench measures. */
export interface Server {
  target: string;
  /** Processor time so far, in microseconds. */
  cpuMicros(): Promise<number>;
}

/** What the tests of a bench share. All but `lines` is set before the first test. */
export class Bench {
  declare stack: TestStack;
  declare operator: TestOperator;
  /** The first gateway. */
  declare gateway: Server;
  /** Printed after the last test. */
  readonly lines: string[] = [];

  /** Creates accounts whose allowance no bench can use up. Returns a token of each. */
  async createTokens(accounts: number): Promise<string[]> {
    const { operator } = this;
    await operator.setPlan('bench', [
      { name: 'calls', allowance: 100_000_000, routes: ['ROUTE_BRANDS', 'ROUTE_LOGOS'] },
    ]);
    const waiting = Array(accounts).keys();
    const tokens: string[] = [];
    const create = async () => {
      for (const _ of waiting) {
        const { token } = await operator.createKey(await operator.createAccount('bench'));
        tokens.push(token);
      }
    };
    await Promise.all([create(), create(), create(), create()]);
    return tokens;
  }

  /** Keeps the gateway away from the load, which this process makes. Without `taskset` and with one processor, does nothing. */
  pin(): void {
    pinServer(this.stack.pid('gateway-1'));
    const last = availableParallelism() - 1;
    if (last > 0) spawnSync('taskset', ['-apc', String(last), String(process.pid)]);
  }
}

/** Starts a stack before the tests of a file and stops it after them. By default it has one gateway. */
export function useBench(
  options: TestStackOptions = {},
  prepare: (bench: Bench) => Promise<unknown> = async () => {},
): Bench {
  const bench = new Bench();
  beforeAll(async () => {
    bench.stack = await startTestStack({ gateways: 1, ...options });
    bench.operator = new TestOperator(bench.stack);
    bench.gateway = {
      target: bench.stack.gateways[0]?.url ?? '',
      cpuMicros: async () => (await bench.stack.metric('gateway-1', 'process_cpu_seconds_total')) * 1_000_000,
    };
    await prepare(bench);
  }, HOUR_MS);
  afterAll(async () => {
    bench.operator?.close();
    await bench.stack?.stop();
    console.log(bench.lines.join('\n'));
  });
  return bench;
}

/**
 * Starts a program of the folder baselines. It sends its URL to this process, and answers every message with the processor time that it
 * has used.
 */
export async function startBaseline(
  program: string,
  programArguments: readonly string[],
): Promise<Server & Disposable> {
  const child = fork(new URL(`../baselines/${program}`, import.meta.url), programArguments);
  const [target] = await once(child, 'message');
  pinServer(child.pid);
  return {
    target: new URL(String(target)).origin,
    cpuMicros: async () => {
      child.send('how much?');
      const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage];
      return user + system;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

/** Starts bare Fastify with the answer at `url`. `headers`: those that it repeats, "all" or a name. */
export const startSameAnswer = (url: string, headers = 'all') =>
  startBaseline('same-answer.ts', [url, headers]);

/** Keeps a measured server on the first processor, so that both servers of a comparison have the same one. */
function pinServer(pid: number | undefined): void {
  if (pid !== undefined && availableParallelism() > 1) spawnSync('taskset', ['-apc', '0', String(pid)]);
}

/** Returns a positive whole number from the environment. */
export function numberFrom(variable: string, byDefault: number): number {
  const text = process.env[variable] ?? String(byDefault);
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`${variable}: a positive whole number, not "${text}"`);
  return number;
}
