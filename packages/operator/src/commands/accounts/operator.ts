import { OPERATOR_ROLES, type OperatorCredential } from '@brand-data/contracts';
import { Command, Option } from '@commander-js/extra-typings';
import { type Context, commandGroup, confirm, YES_OPTION } from '../../terminal/context.ts';
import { type Columns, facts, listTable, time } from '../../text/tables.ts';

export function operatorCommand(context: Context) {
  const description =
    'Manage operators: the people and programs that may run bds, each with a credential and a role';
  return commandGroup(context, 'operator', description, [create, list, revoke]);
}

function create({ accounts, output }: Context) {
  return new Command('create')
    .description('Create a credential for an operator and show it; it cannot be shown again')
    .argument('<name>', 'who the operator is: a lower-case slug')
    .addOption(
      new Option('--role <role>', 'what the operator may do').choices(OPERATOR_ROLES).makeOptionMandatory(),
    )
    .addHelpText(
      'after',
      '\nread: look at everything, without any token. keys: also plans, accounts, keys and blocks.' +
        '\ncatalogue: also imports, overrides, deletions and logos. all: everything, also operators.' +
        '\nAn operator can have two credentials at once, so that one can replace the other.',
    )
    .action(async (name, { role }) => {
      const request = { name, role };
      const { operator, credential } = await accounts().call((client) => client.createOperator, request);
      if (operator === undefined) return;
      output.answer({ operator: operatorToJson(operator), credential }, () => [
        facts([
          ['Operator', operator.name],
          ['Role', operator.role],
          ['Credential', operator.id],
          ['Secret', credential],
        ]),
        '',
        'Save the secret now: it is not stored and cannot be shown again. The operator puts it into',
        '~/.config/bds/credential, which only the operator may read (chmod 600).',
      ]);
    });
}

function list({ accounts, output }: Context) {
  return new Command('list').description('List the credentials of all operators').action(async () => {
    const { operators } = await accounts().call((client) => client.listOperators, {});
    output.answer({ operators: operators.map(operatorToJson) }, () =>
      listTable(COLUMNS, operators, 'There are no operators. Create one with bds operator create.'),
    );
  });
}

function revoke(context: Context) {
  const { accounts, output } = context;
  return new Command('revoke')
    .description("Revoke an operator's credentials permanently")
    .argument('<name>', 'who the operator is')
    .option('--credential <id>', 'revoke only this credential (default: all of the operator)')
    .option(...YES_OPTION)
    .action(async (name, { credential = '', yes }) => {
      await confirm(context, `Revoking ${credential || `all credentials of ${name}`} cannot be undone`, yes);
      const request = { name, credentialId: credential };
      const { operators } = await accounts().call((client) => client.revokeOperator, request);
      output.answer({ operators: operators.map(operatorToJson) }, () => listTable(COLUMNS, operators));
    });
}

function operatorToJson(operator: OperatorCredential) {
  const { id, name, role, createdAtMs, createdBy, revokedAtMs } = operator;
  return {
    name,
    role,
    credential: id,
    state: stateOf(operator),
    created_at: time(createdAtMs),
    created_by: createdBy,
    revoked_at: time(revokedAtMs),
  };
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
