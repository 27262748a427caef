import { OptionError } from '@brand-data/importers';
import { Command, CommanderError } from 'commander';
import { accountCommand } from './commands/account.ts';
import { auditCommand } from './commands/audit.ts';
import { catalogueCommand } from './commands/catalogue.ts';
import { deleteCommand } from './commands/delete.ts';
import { importCommand } from './commands/import.ts';
import { keyCommand } from './commands/key.ts';
import { logoCommand } from './commands/logo.ts';
import { operatorCommand } from './commands/operator.ts';
import { planCommand } from './commands/plan.ts';
import { Interrupted } from './commands/reported-import.ts';
import { resolveCommand } from './commands/resolve.ts';
import { schemaCommand } from './commands/schema.ts';
import { setCommand } from './commands/set.ts';
import { showCommand } from './commands/show.ts';
import { statusCommand } from './commands/status.ts';
import { unsetCommand } from './commands/unset.ts';
import { usageCommand } from './commands/usage.ts';
import { type Connection, openConnection, readSettings, UsageError } from './connection.ts';
import { type Context, pathsFrom } from './context.ts';
import { outputTo, type Streams } from './output.ts';
import { printable } from './printable.ts';

/** `interrupted` is what shells report for Ctrl-C: 128 and the number of the signal. */
export const EXIT = { good: 0, failed: 1, wrongUsage: 2, interrupted: 130 } as const;

/** The process that a command line runs in. */
export interface CommandEnvironment extends Streams {
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** See Context. */
  ask?: (question: string) => Promise<string>;
  /** See Context. If it is absent, nothing interrupts a command. */
  interruption?: () => AbortSignal;
}

/** Runs one command line (without the interpreter and the script) and returns its exit code. */
export async function main(args: readonly string[], environment: CommandEnvironment): Promise<number> {
  const { env, cwd, stdout, stderr, interruption = () => new AbortController().signal } = environment;
  let connection: Connection | undefined;

  const program = new Command('bds')
    .description('Operate the Brand Data Service')
    .option('--accounts <host:port>', 'connect to this admin port of accounts (or set BDS_ACCOUNTS)')
    .option('--catalog <host:port>', 'connect to this admin port of catalog (or set BDS_CATALOG)')
    .option('--metering <host:port>', 'connect to this admin port of metering (or set BDS_METERING)')
    .option('--images <host:port>', 'connect to this admin port of images (or set BDS_IMAGES)')
    .option(
      '--operator-token-file <file>',
      'read the operator credential from this file (or set BDS_OPERATOR_TOKEN_FILE or BDS_OPERATOR_TOKEN)',
    )
    .option(
      '--as <operator>',
      'use the credential in ~/.config/bds/<operator>.credential (default: ~/.config/bds/credential)',
    )
    .option(
      '--certificates <folder>',
      'prove the identity of bds with tls.crt, tls.key and ca.crt in this folder (or set BDS_CERTIFICATES)',
    )
    .option('--json', 'print one JSON document (resolve: one document on each line)')
    .addHelpText(
      'after',
      '\nThe credential is that of --as or --operator-token-file, else of the file that BDS_CREDENTIAL_FILE names, else of' +
        '\nBDS_OPERATOR_TOKEN_FILE or BDS_OPERATOR_TOKEN, else of ~/.config/bds/credential.' +
        '\nWithout addresses, bds connects to the running local stack. It reads the file that BDS_STACK names,' +
        '\nor else .local/operator.json in the working directory or in a folder above it.' +
        '\nExit status: 0 success, 1 the command failed or something was refused, 2 wrong usage, 130 stopped by Ctrl-C.',
    )
    .configureOutput({
      writeOut: (text) => stdout.write(printable(text)),
      writeErr: (text) => stderr.write(printable(text.replace(/^error: /, 'bds: '))),
    })
    .exitOverride();

  const context: Context = {
    connect: () => (connection ??= openConnection(readSettings(program.opts(), env, cwd))),
    output: outputTo({ stdout, stderr }, () => program.opts().json === true),
    ...pathsFrom(cwd),
    ask: environment.ask,
    interruption,
  };
  for (const command of [
    planCommand,
    accountCommand,
    keyCommand,
    usageCommand,
    operatorCommand,
    auditCommand,
    importCommand,
    catalogueCommand,
    resolveCommand,
    showCommand,
    setCommand,
    unsetCommand,
    logoCommand,
    deleteCommand,
    schemaCommand,
    statusCommand,
  ])
    program.addCommand(command(context));
  inherit(program);

  try {
    await program.parseAsync([...args], { from: 'user' });
    return EXIT.good;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.good : EXIT.wrongUsage;
    const { message } = error as Error;
    const isUsage = error instanceof UsageError || error instanceof OptionError;
    // Only the command's own messages have several lines by intention. Further lines of others are of no use to operators.
    stderr.write(`bds: ${printable(isUsage ? message : (message.split('\n', 1)[0] ?? ''))}\n`);
    if (error instanceof Interrupted) return EXIT.interrupted;
    return isUsage ? EXIT.wrongUsage : EXIT.failed;
  } finally {
    connection?.close();
  }
}

/** Copies the program's settings to all commands, because a command that is added as an object does not inherit them. */
function inherit(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inherit(command);
  }
}
