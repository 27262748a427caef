import { resolve, sep } from 'node:path';
import { Fault } from '@brand-data/runtime';
import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Connection } from '../connection/connection.ts';
import { UsageError } from '../connection/failures.ts';
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
  /** Asks at the terminal and resolves to the answer, which a secret does not show. Absent if there is no terminal. */
  ask: ((question: string, isSecret?: boolean) => Promise<string>) | undefined;
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

/** Creates a command that consists of other commands. */
export function commandGroup(
  context: Context,
  name: string,
  description: string,
  commands: readonly ((context: Context) => CommandUnknownOpts)[],
): CommandUnknownOpts {
  const group: CommandUnknownOpts = new Command(name).description(description);
  for (const command of commands) group.addCommand(command(context));
  return group;
}

export const YES_OPTION = ['--yes', 'do not ask whether to go on'] as const;

/**
 * Returns if the operator has agreed to something that no command can undo or that cuts callers off: by --yes, or by an answer at
 * the terminal.
 *
 * @param what as in "Revoking key-1 cannot be undone"
 */
export async function confirm({ ask }: Context, what: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  if (ask === undefined) throw new UsageError(`${what}: add --yes`);
  if (!/^y(es)?$/i.test((await ask(`${what}. Go on? [y/N] `)).trim()))
    throw new Fault('failed_precondition', 'nothing was changed, because you did not answer yes');
}
