import { VERSION } from '@brand-data/runtime';
import { Command } from '@commander-js/extra-typings';
import { accountCommand } from './commands/accounts/account.ts';
import { auditCommand } from './commands/accounts/audit.ts';
import { blockCommand } from './commands/accounts/block.ts';
import { keyCommand } from './commands/accounts/key.ts';
import { noticeCommand } from './commands/accounts/notice.ts';
import { operatorCommand } from './commands/accounts/operator.ts';
import { planCommand } from './commands/accounts/plan.ts';
import { usageCommand } from './commands/accounts/usage.ts';
import { catalogueCommand } from './commands/catalogue/catalogue.ts';
import { DECISION_COMMANDS } from './commands/catalogue/decisions.ts';
import { logoCommand } from './commands/catalogue/logo.ts';
import { deleteCommand, schemaCommand, showCommand } from './commands/catalogue/record.ts';
import { resolveCommand } from './commands/catalogue/resolve.ts';
import { setCommand, unsetCommand } from './commands/catalogue/set.ts';
import { suppressCommand, unsuppressCommand } from './commands/catalogue/suppress.ts';
import { addExamples } from './commands/examples.ts';
import { importCommand } from './commands/imports/import.ts';
import { syncCommand } from './commands/imports/sync.ts';
import { backupCommand } from './commands/installation/backup.ts';
import { completionCommand } from './commands/installation/completion.ts';
import { doctorCommand } from './commands/installation/doctor.ts';
import { restoreCommand } from './commands/installation/restore.ts';
import { statusCommand } from './commands/installation/status.ts';
import { usagePageCommand } from './commands/installation/usage-page.ts';
import { collected } from './options/readers.ts';
import type { Context } from './terminal/context.ts';

const COMMANDS = [
  planCommand,
  accountCommand,
  keyCommand,
  usageCommand,
  usagePageCommand,
  noticeCommand,
  blockCommand,
  operatorCommand,
  auditCommand,
  importCommand,
  syncCommand,
  catalogueCommand,
  resolveCommand,
  showCommand,
  setCommand,
  unsetCommand,
  suppressCommand,
  unsuppressCommand,
  ...DECISION_COMMANDS,
  logoCommand,
  deleteCommand,
  schemaCommand,
  statusCommand,
  doctorCommand,
  backupCommand,
  restoreCommand,
];

/** Creates the command line with all commands, the help of each with its example. */
export function createProgram(context: Context) {
  const program = new Command('bds')
    .description('Operate the Brand Data Service')
    .version(VERSION, '--version', 'print the version of bds')
    .option('--accounts <host:port>', 'connect to this admin port of accounts (or set BDS_ACCOUNTS)')
    .option('--catalog <host:port>', 'connect to this admin port of catalog (or set BDS_CATALOG)')
    .option('--metering <host:port>', 'connect to this admin port of metering (or set BDS_METERING)')
    .option('--images <host:port>', 'connect to this admin port of images (or set BDS_IMAGES)')
    .option(
      '--gateway <url>',
      'doctor: check the gateway with this operations port, http://host:port; repeatable (or set BDS_GATEWAYS)',
      collected,
    )
    .option(
      '--operator-token-file <file>',
      'read the operator credential from this file, or from standard input if it is - (or set BDS_OPERATOR_TOKEN_FILE or BDS_OPERATOR_TOKEN)',
    )
    .option(
      '--as <operator>',
      'use the credential in ~/.config/bds/<operator>.credential (default: ~/.config/bds/credential)',
    )
    .option(
      '--certificates <folder>',
      'prove the identity of bds with tls.crt, tls.key and ca.crt in this folder (or set BDS_CERTIFICATES)',
    )
    .option('--json', 'print one JSON document (resolve and --list: one document on each line)')
    .addHelpText(
      'after',
      '\nThe credential is that of --as or --operator-token-file, else of the file that BDS_CREDENTIAL_FILE names, else of' +
        '\nBDS_OPERATOR_TOKEN_FILE or BDS_OPERATOR_TOKEN, else of ~/.config/bds/credential.' +
        '\nWithout addresses, bds connects to the running local stack. It reads the file that BDS_STACK names,' +
        '\nor else .local/operator.json in the working directory or in a folder above it.' +
        '\nExit status: 0 success, 1 the command failed or something was refused, 2 wrong usage, 75 a sync failed for a reason' +
        '\nthat may pass, 130 stopped by Ctrl-C.',
    );
  for (const command of COMMANDS) program.addCommand(command(context));
  program.addCommand(completionCommand(context, program));
  addExamples(program);
  return program;
}
