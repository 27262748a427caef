import type { Child } from '../process.ts';
import type { FoundBinary } from './find-binary.ts';

export interface ServerOptions {
  /** Holds all that the server keeps; made when it is not there. */
  dataDir: string;
  /** On 127.0.0.1; absent: a free one. */
  port?: number;
  /** Absent: in `dataDir`. */
  logFile?: string;
  /** Start it again when it ends by itself; absent: no. */
  restart?: boolean;
  /** Told of fetches and restarts. */
  say?: (line: string) => void;
  /** Aborted: a start that is under way ends. */
  signal?: AbortSignal | undefined;
}

/** A server as a process that may run. */
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
