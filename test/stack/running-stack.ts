import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bds, bdsWith, type Stack, writeSecret } from '@brand-data/local';
import type { Child } from '@brand-data/servers';
import { metricAt } from '@brand-data/testing/exposition';

/** A stack whose processes a test can kill, restart and read. */
export interface RunningStack extends Omit<Stack, 'children' | 'stop'> {
  /** The names of all processes: "accounts", "catalog", "metering", "images", "gateway-1", and the servers of the stack. */
  names: readonly string[];
  /** Runs a `bds` command, such as `bds('plan', 'list')`, and resolves to its answer. */
  bds: Bds;
  pid(name: string): number | undefined;
  /** Sends SIGKILL. The process stays down until `restart`. */
  kill(name: string): Promise<void>;
  /** Stops the process in order if it runs, and starts it again with the same ports and data. Resolves when it is ready. */
  restart(name: string): Promise<void>;
  /** Everything that the process has logged. */
  logs(name: string): Promise<string>;
  /**
   * The sum of a metric over these services, and over the labels that are not named. 0: none of them answers, or has it.
   *
   * @param names the names of services' processes, or of one
   */
  metric(names: string | readonly string[], name: string, labels?: Record<string, string>): Promise<number>;
}

/** Returns the controls of a stack. `servers` are those that it uses and has not started itself. */
export async function runningStack(stack: Stack, servers: Iterable<Child>): Promise<RunningStack> {
  const connectionFile = join(stack.dataDir, 'operator.json');
  await writeSecret(connectionFile, stack.operator);
  const children = new Map<string, Child>(stack.children);
  for (const server of servers) children.set(server.name, server);
  const child = (name: string): Child => {
    const found = children.get(name);
    if (found === undefined) throw new Error(`no "${name}" here: ${[...children.keys()].join(', ')}`);
    return found;
  };
  return {
    ...stack,
    names: [...children.keys()],
    bds: bdsWith(connectionFile, { MONGODB_URL: stack.mongodbUrl, NATS_URL: stack.natsUrl }),
    pid: (name) => child(name).pid,
    kill: (name) => child(name).kill(),
    async restart(name) {
      await child(name).stop();
      await child(name).start();
    },
    logs: (name) => readFile(child(name).logFile, 'utf8'),
    async metric(names, name, labels = {}) {
      const values = [names].flat().map((each) => metricAt(stack.opsUrls.get(each) ?? '', name, labels));
      return (await Promise.all(values)).reduce((sum, value) => sum + value, 0);
    },
  };
}
