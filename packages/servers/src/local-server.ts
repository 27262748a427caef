import type { FoundBinary } from './find-binary.ts';
import type { Child } from './process.ts';

export interface ServerOptions {
  /** The folder of all the server's data. It is created if it does not exist. */
  dataDir: string;
  /** The port on 127.0.0.1. By default a free one. */
  port?: number;
  /** By default a file in `dataDir`. */
  logFile?: string;
  /** Whether to restart the server if it ends by itself. By default it is not restarted. */
  restart?: boolean;
  /** Gets messages about downloads and restarts. */
  say?: (line: string) => void;
  /** If the signal is aborted during a start, the start ends. */
  signal?: AbortSignal | undefined;
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
