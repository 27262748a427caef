import { OPERATOR_ROLES, type OperatorCredential } from '@brand-data/contracts';
import { Command, Option } from 'commander';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import type { Context } from '../../terminal/context.ts';
import { type Columns, facts, listTable, time } from '../../text/tables.ts';

export function operatorCommand(context: Context): Command {
  const { accounts, output } = context;
  const operator = new Command('operator').description(
    'Manage operators: the people and programs that may run bds, each with a credential and a role',
  );

  operator
    .command('create')
    .description('Create a credential for an operator and show it; it cannot be shown again')
    .argument('<name>', 'who the operator is: a lower-case slug')
    .addOption(
      new Option('--role <role>', 'what the operator may do').choices(OPERATOR_ROLES).makeOptionMandatory(),
    )
    .addHelpText(
      'after',
      '\nread: look at everything, without any token. keys: also plans, accounts and keys.' +
        '\ncatalogue: also imports, overrides, deletions and logos. all: everything, also operators.' +
        '\nAn operator can have two credentials at once, so that one can replace the other.',
    )
    .action(async (name: string, { role }: { role: string }) => {
      const { operator: made, credential } = await accounts().call((client) => client.createOperator, {
        name,
        role,
      });
      if (made === undefined) return;
      output.answer({ operator: operatorToJson(made), credential }, () =>
        [
          facts([
            ['Operator', made.name],
            ['Role', made.role],
            ['Credential', made.id],
            ['Secret', credential],
          ]),
          '',
          'Save the secret now: it is not stored and cannot be shown again. The operator puts it into',
          '~/.config/bds/credential, which only the operator may read (chmod 600).',
        ].join('\n'),
      );
    });

  operator
    .command('list')
    .description('List the credentials of all operators')
    .action(async () => {
      const { operators } = await accounts().call((client) => client.listOperators, {});
      output.answer({ operators: operators.map(operatorToJson) }, () =>
        operators.length === 0
          ? 'There are no operators. Create one with bds operator create.'
          : operatorTable(operators),
      );
    });

  operator
    .command('revoke')
    .description("Revoke an operator's credentials permanently")
    .argument('<name>', 'who the operator is')
    .option('--credential <id>', 'revoke only this credential (default: all of the operator)')
    .option(...YES_OPTION)
    .action(async (name: string, { credential = '', ...options }: { credential?: string; yes?: boolean }) => {
      await confirm(context, `Revoking ${credential || `all credentials of ${name}`}`, options);
      const { operators } = await accounts().call((client) => client.revokeOperator, {
        name,
        credentialId: credential,
      });
      output.answer({ operators: operators.map(operatorToJson) }, () => operatorTable(operators));
    });

  return operator;
}

function operatorToJson({ id, name, role, createdAtMs, createdBy, revokedAtMs }: OperatorCredential) {
  return {
    name,
    role,
    credential: id,
    state: revokedAtMs === undefined ? 'active' : 'revoked',
    created_at: time(createdAtMs),
    created_by: createdBy,
    revoked_at: time(revokedAtMs),
  };
}

function operatorTable(operators: readonly OperatorCredential[]): string {
  return listTable(COLUMNS, operators);
}

const COLUMNS: Columns<OperatorCredential> = {
  OPERATOR: ({ name }) => name,
  ROLE: ({ role }) => role,
  STATE: stateOf,
  CREDENTIAL: ({ id }) => id,
  CREATED: ({ createdAtMs }) => time(createdAtMs),
  BY: ({ createdBy }) => createdBy,
  REVOKED: ({ revokedAtMs }) => time(revokedAtMs),
};

function stateOf({ revokedAtMs }: OperatorCredential): string {
  return revokedAtMs === undefined ? 'active' : 'revoked';
}
