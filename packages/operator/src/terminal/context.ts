import { resolve, sep } from 'node:path';
import type { Connection } from '../connection/connection.ts';
import type { Output } from './output.ts';

/** The environment of every command. */
export interface Context extends Pick<Connection, 'accounts' | 'catalog' | 'metering' | 'images'> {
  /** Connects at the first call, with the settings of the options and the environment. */
  connect(): Connection;
  /** Connects with this credential, and with no other setting for credentials. Whoever calls this closes the connection. */
  connectAs(credential: string): Connection;
  /** The settings that the environment has, for commands that read more than the addresses of services. */
  env: NodeJS.ProcessEnv;
  output: Output;
  /** Makes a path of the command line absolute. */
  pathOf(path: string): string;
  /** Makes a path relative if it is below the working directory. Text after the path stays. */
  shown(text: string): string;
  /** Asks at the terminal and resolves to the answer. Absent if the command does not run at a terminal. */
  ask: ((question: string) => Promise<string>) | undefined;
  /** A signal that Ctrl-C aborts. Until it is called for the first time, Ctrl-C ends the process. */
  interruption(): AbortSignal;
  /** Reports an error that the command survives. */
  onDefect(error: unknown): void;
}

export function pathsFrom(cwd: string): Pick<Context, 'pathOf' | 'shown'> {
  const folder = resolve(cwd) + sep;
  return {
    pathOf: (path) => resolve(cwd, path),
    shown: (text) => (text.startsWith(folder) ? text.slice(folder.length) : text),
  };
}
