import { resolve, sep } from 'node:path';
import type { Connection } from './connection.ts';
import type { Output } from './output.ts';

/** What every command is handed. */
export interface Context {
  /** Connects as the options and the environment say, on first use. */
  connect(): Connection;
  output: Output;
  /** A path of the command line, from the working directory. */
  pathOf(path: string): string;
  /** The same for people, of a text that begins with a path: what is below the working directory is told from there. */
  shown(text: string): string;
  /** Aborted by Ctrl-C, once it is asked for: without that, Ctrl-C ends the process. */
  interruption(): AbortSignal;
}

export function pathsFrom(cwd: string): Pick<Context, 'pathOf' | 'shown'> {
  const folder = resolve(cwd) + sep;
  return {
    pathOf: (path) => resolve(cwd, path),
    shown: (text) => (text.startsWith(folder) ? text.slice(folder.length) : text),
  };
}
