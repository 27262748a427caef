import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Binary, type FoundBinary, findBinary } from './find-binary.ts';
import { freePort } from './ports.ts';
import { baseEnvironment, Child, type ChildOptions, type SharedOptions } from './process.ts';

export interface ServerOptions extends Partial<SharedOptions> {
  /** The folder of all the server's data. It is created if it does not exist. */
  dataDir: string;
  /** The port on 127.0.0.1. By default a free one. */
  port?: number;
}

/** The process of a server, running or not. */
export interface ServerProcess {
  port: number;
  found: FoundBinary;
  child: Child;
}

/** A server that runs on 127.0.0.1 until it is stopped or this process ends. */
export interface LocalServer extends ServerProcess {
  url: string;
  stop(): Promise<void>;
}

interface Program extends Pick<ChildOptions, 'readyWithinMs' | 'stopWithinMs'> {
  binary: Binary;
  /** Writes the files that the server reads at its start, and resolves to its arguments. */
  prepare: (port: number) => Promise<readonly string[]>;
  ready: (port: number) => Promise<boolean>;
}

/** Makes the process of a server on 127.0.0.1, without starting it. Its name and its log have the program's name by default. */
export async function serverProcess(options: ServerOptions, program: Program): Promise<ServerProcess> {
  const { dataDir, restart, say, signal } = options;
  const { binary, prepare, ready, readyWithinMs, stopWithinMs } = program;
  const found = await findBinary(binary, { say, signal });
  const port = options.port ?? (await freePort());
  await mkdir(dataDir, { recursive: true });
  const child = new Child({
    name: options.name ?? binary.command,
    command: found.path,
    args: await prepare(port),
    env: baseEnvironment(),
    logFile: options.logFile ?? join(dataDir, `${binary.command}.log`),
    ready: () => ready(port),
    readyWithinMs,
    stopWithinMs,
    restart,
    say,
    signal,
  });
  return { port, found, child };
}

/** Starts the process, and returns the server that is then at `url`. */
export async function started(process: ServerProcess, url: string): Promise<LocalServer> {
  const { child } = process;
  await child.start();
  return { ...process, url, stop: async () => void (await child.stop()) };
}
