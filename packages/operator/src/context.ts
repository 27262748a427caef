import { resolve, sep } from 'node:path';
import type { Connection } from './connection.ts';
import type { Output } from './output.ts';

/** What every command uses. */
export interface Context {
  /** Connects on first use, by the options and the environment. */
  connect(): Connection;
  output: Output;
  /** The absolute path of a path on the command line. */
  pathOf(path: string): string;
  /** A path as people read it: relative, if it is below the working directory. Text after the path stays. */
  shown(text: string): string;
  /** A signal that Ctrl-C aborts. Until it is called for the first time, Ctrl-C ends the process. */
  interruption(): AbortSignal;
}

export function pathsFrom(cwd: string): Pick<Context, 'pathOf' | 'shown'> {
  const folder = resolve(cwd) + sep;
  return {
    pathOf: (path) => resolve(cwd, path),
    shown: (text) => (text.startsWith(folder) ? text.slice(folder.length) : text),
  };
}
