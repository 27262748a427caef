import { checkToken } from '@brand-data/contracts';
import { OptionError } from '@brand-data/importers';
import { Fault } from '@brand-data/runtime';
import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { type Connection, openConnection } from './connection/connection.ts';
import { FILE_PROBLEM, Interrupted, PassingFailure, UsageError } from './connection/failures.ts';
import { connectionSettings, serviceAddresses } from './connection/settings.ts';
import { createProgram } from './program.ts';
import { type Context, pathsFrom } from './terminal/context.ts';
import { Output, type Streams } from './terminal/output.ts';
import { printable } from './text/printable.ts';

/** `passing` is EX_TEMPFAIL of sysexits.h. `interrupted` is what shells report for Ctrl-C: 128 and the number of the signal. */
export const EXIT = { good: 0, failed: 1, wrongUsage: 2, passing: 75, interrupted: 130 } as const;

/** The process that a command line runs in. */
export interface CommandEnvironment extends Streams {
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** See Context. */
  ask?: Context['ask'];
  /** See Context. If it is absent, nothing interrupts a command. */
  interruption?: () => AbortSignal;
}

/** Runs one command line (without the interpreter and the script) and returns its exit code. */
export async function main(args: readonly string[], environment: CommandEnvironment): Promise<number> {
  const { env, cwd, stdout, stderr, interruption = () => new AbortController().signal } = environment;
  let connection: Connection | undefined;
  const options = (): ReturnType<ReturnType<typeof createProgram>['opts']> => program.opts();
  const connect = () => (connection ??= openConnection(connectionSettings(options(), env, cwd)));
  const context: Context = {
    connect,
    accounts: () => connect().accounts(),
    catalog: () => connect().catalog(),
    metering: () => connect().metering(),
    images: () => connect().images(),
    connectAs: (operatorToken) => openConnection({ ...serviceAddresses(options(), env, cwd), operatorToken }),
    env,
    output: new Output({ stdout, stderr }, () => options().json === true),
    ...pathsFrom(cwd),
    ask: environment.ask,
    interruption,
    onDefect: (error) =>
      stderr.write(`bds: ${printable(error instanceof Error ? (error.stack ?? '') : String(error))}\n`),
  };
  const program = createProgram(context)
    .configureOutput({
      writeOut: (text) => stdout.write(printable(text)),
      writeErr: (text) => stderr.write(printable(text)),
      outputError: (text, write) =>
        write(`${text.trimEnd().replace(/^error: /, 'bds: ')} (--help shows more)\n`),
    })
    .exitOverride();
  inherit(program);

  try {
    refuseTokens(args);
    const [first, asked] = args;
    // Commander answers `help nope` as if there were no further word.
    const isUnknown =
      first === 'help' && asked !== undefined && !program.commands.some((one) => one.name() === asked);
    await program.parseAsync(args.slice(isUnknown ? 1 : 0), { from: 'user' });
    return EXIT.good;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.good : EXIT.wrongUsage;
    const message = messageOf(error, context);
    const isUsage =
      error instanceof UsageError ||
      error instanceof OptionError ||
      (error instanceof Fault && error.kind === 'invalid_argument');
    // Only the command's own messages have several lines by intention. Further lines of other messages are of no use to
    // operators.
    stderr.write(`bds: ${printable(isUsage ? message : (message.split('\n', 1)[0] ?? ''))}\n`);
    if (error instanceof Interrupted) return EXIT.interrupted;
    if (error instanceof PassingFailure) return EXIT.passing;
    return isUsage ? EXIT.wrongUsage : EXIT.failed;
  } finally {
    connection?.close();
  }
}

/** No command takes a token, and no message may repeat one. */
function refuseTokens(args: readonly string[]): void {
  const isToken = (word: string) => checkToken(word, []) !== 'wrong';
  if (args.some((argument) => argument.split(/[^0-9A-Za-z_]/).some(isToken)))
    throw new UsageError(
      'this command line has a token, which your shell may keep and other users may see. bds key find shows the key of a token: use its id',
    );
}

/** The message says what is wrong, then what to do, also if a file cannot be used. */
function messageOf(error: unknown, { shown }: Pick<Context, 'shown'>): string {
  const { message, code = '', path } = error as NodeJS.ErrnoException;
  const problem = FILE_PROBLEM[code];
  return problem === undefined || path === undefined ? message : `${shown(path)} ${problem}`;
}

/** Copies the program's settings to all commands, because a command that is added as an object does not inherit them. */
function inherit(parent: CommandUnknownOpts): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inherit(command);
  }
}
