import type { Connection } from './connection.ts';
import type { Output } from './output.ts';

/** What every command is handed. */
export interface Context {
  /** Connects as the options and the environment say, on first use. */
  connect(): Connection;
  output: Output;
}
