import type { Account, Key, RepairedLimit } from '@brand-data/contracts';
import { Command } from 'commander';
import type { Context } from '../../terminal/context.ts';
import { facts, table, time } from '../../text/tables.ts';
import { STATE_NAME } from '../../usage/account-state.ts';
import { accountListCommand } from './account-list.ts';
import { keyTable, keyToJson } from './key-text.ts';

export function accountCommand(context: Context): Command {
  const { connect, output } = context;
  const account = new Command('account').description('Manage accounts');

  const show = (found: Account | undefined, keys?: readonly Key[]) => {
    if (found === undefined) return;
    const document = { account: accountToJson(found), ...(keys && { keys: keys.map(keyToJson) }) };
    output.answer(document, () =>
      keys === undefined || keys.length === 0
        ? accountFacts(found)
        : `${accountFacts(found)}\n\n${keyTable(keys)}`,
    );
  };

  account
    .command('create')
    .description('Create an account')
    .option('--id <id>', 'identify the account by this lower-case slug (default: a generated id)')
    .requiredOption('--name <name>', 'show this name to people')
    .requiredOption('--plan <plan>', 'put the account on this plan')
    .action(async ({ id = '', name, plan }: { id?: string; name: string; plan: string }) => {
      const answer = await connect()
        .accounts()
        .call((client) => client.createAccount, { id, name, plan });
      show(answer.account);
    });

  account.addCommand(accountListCommand(context));

  account
    .command('show')
    .description('Show an account and its keys')
    .argument('<id>', "the account's id")
    .action(async (id: string) => {
      const answer = await connect()
        .accounts()
        .call((client) => client.getAccount, { id });
      show(answer.account, answer.keys);
    });

  account
    .command('rename')
    .description('Give an account another name; its id stays')
    .argument('<id>', "the account's id")
    .argument('<name>', 'the name to show to people')
    .action(async (id: string, name: string) => {
      const answer = await connect()
        .accounts()
        .call((client) => client.renameAccount, { id, name });
      show(answer.account);
    });

  account
    .command('set-plan')
    .description("Change an account's plan; the calls that it has already used this month still count")
    .argument('<id>', "the account's id")
    .argument('<plan>', 'the name of its new plan')
    .action(async (id: string, plan: string) => {
      const answer = await connect()
        .accounts()
        .call((client) => client.setAccountPlan, { id, plan });
      show(answer.account);
    });

  account
    .command('repair-limits')
    .description(
      "Give the account's ledgers in metering its plan's allowances again, whatever allowances they have",
    )
    .argument('<id>', "the account's id")
    .action(async (accountId: string) => {
      const { allowance } = await connect()
        .accounts()
        .call((client) => client.signAllowance, { accountId });
      const { limits } = await connect()
        .metering()
        .call((client) => client.repairLimits, { allowance });
      output.answer({ account: accountId, limits: limits.map(repairedToJson) }, () => repairedText(limits));
    });

  account
    .command('close')
    .description('Close an account; its tokens are refused until you reopen it')
    .argument('<id>', "the account's id")
    .action(async (id: string) => {
      const answer = await connect()
        .accounts()
        .call((client) => client.closeAccount, { id });
      show(answer.account);
    });

  account
    .command('reopen')
    .description('Open a closed account again, with its keys that are neither revoked nor expired')
    .argument('<id>', "the account's id")
    .action(async (id: string) => {
      const answer = await connect()
        .accounts()
        .call((client) => client.reopenAccount, { id });
      show(answer.account);
    });

  return account;
}

function repairedToJson({ pool, month, limit, revision, limitBefore, revisionBefore }: RepairedLimit) {
  return {
    pool,
    month,
    allowance: limit,
    revision,
    allowance_before: limitBefore,
    revision_before: revisionBefore,
  };
}

function repairedText(limits: readonly RepairedLimit[]): string {
  if (limits.length === 0) return 'Metering has no ledger of this account in this month and the next.';
  const rows = limits.map(({ pool, month, limitBefore, limit, revisionBefore, revision }) => [
    month,
    pool,
    limitBefore,
    limit,
    revisionBefore,
    revision,
  ]);
  return table(['MONTH', 'POOL', 'ALLOWANCE BEFORE', 'ALLOWANCE', 'REVISION BEFORE', 'REVISION'], rows);
}

export function accountToJson({ id, name, plan, state, createdAtMs, closedAtMs }: Account) {
  return {
    id,
    name,
    plan,
    state: STATE_NAME[state],
    created_at: time(createdAtMs),
    closed_at: time(closedAtMs),
  };
}

function accountFacts({ id, name, plan, state, createdAtMs, closedAtMs }: Account): string {
  return facts([
    ['Account', id],
    ['Name', name],
    ['Plan', plan],
    ['State', STATE_NAME[state]],
    ['Created', time(createdAtMs)],
    ['Closed', time(closedAtMs)],
  ]);
}
