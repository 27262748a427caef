import type { Account, Key, RepairedLimit } from '@brand-data/contracts';
import { Command } from '@commander-js/extra-typings';
import { type Context, confirm, YES_OPTION } from '../../terminal/context.ts';
import { type Columns, facts, listTable, time } from '../../text/tables.ts';
import { plansByName, stateWord } from '../../usage/allowance-use.ts';
import { confirmTerms } from '../../usage/plan-terms.ts';
import { accountListCommand } from './account-list.ts';
import { KEY_COLUMNS, keyToJson } from './key.ts';

export function accountCommand(context: Context) {
  const { accounts, output } = context;
  const account = new Command('account').description('Manage accounts');

  const show = ({ account: found, keys }: { account?: Account | undefined; keys?: readonly Key[] }) => {
    if (found === undefined) return;
    const document = { account: accountToJson(found), ...(keys && { keys: keys.map(keyToJson) }) };
    output.answer(document, () =>
      keys?.length ? `${accountFacts(found)}\n\n${listTable(KEY_COLUMNS, keys)}` : accountFacts(found),
    );
  };
  const existing = (name: string, description: string) =>
    account.command(name).description(description).argument('<id>', "the account's id");

  account
    .command('create')
    .description('Create an account')
    .option('--id <id>', 'identify the account by this lower-case slug (default: a generated id)')
    .requiredOption('--name <name>', 'show this name to people')
    .requiredOption('--plan <plan>', 'put the account on this plan')
    .action(async ({ id = '', name, plan }) =>
      show(await accounts().call((client) => client.createAccount, { id, name, plan })),
    );
  account.addCommand(accountListCommand(context));
  existing('show', 'Show an account and its keys').action(async (id) =>
    show(await accounts().call((client) => client.getAccount, { id })),
  );
  existing('rename', 'Give an account another name; its id stays')
    .argument('<name>', 'the name to show to people')
    .action(async (id, name) => show(await accounts().call((client) => client.renameAccount, { id, name })));
  existing('set-plan', "Change an account's plan; the calls that it has already used this month still count")
    .argument('<plan>', 'the name of its new plan')
    .option(...YES_OPTION)
    .action(async (id, plan, { yes }) => {
      await confirmPlan(context, id, plan, yes);
      show(await accounts().call((client) => client.setAccountPlan, { id, plan }));
    });
  existing(
    'repair-limits',
    "Give the account's ledgers in metering its plan's allowances again, whatever allowances they have",
  ).action((id) => repairLimits(context, id));
  existing('close', 'Close an account; its tokens are refused until you reopen it')
    .option(...YES_OPTION)
    .action(async (id, { yes }) => {
      await confirm(context, `Closing ${id} refuses all its calls until you reopen it`, yes);
      show(await accounts().call((client) => client.closeAccount, { id }));
    });
  existing(
    'reopen',
    'Open a closed account again, with its keys that are neither revoked nor expired',
  ).action(async (id) => show(await accounts().call((client) => client.reopenAccount, { id })));
  existing('delete', 'Delete an account for ever; its id and its billed usage stay')
    .option('--dry-run', 'show what would be removed, and change nothing')
    .option(...YES_OPTION)
    .action(async (id, { yes, dryRun }) => {
      const { account: found, keys } = await accounts().call((client) => client.getAccount, { id });
      if (dryRun) return found && output.answer(...dryDeletion(found, keys));
      await confirm(context, `Deleting ${id} refuses all its calls and cannot be undone`, yes);
      show(await accounts().call((client) => client.deleteAccount, { id }));
    });
  return account;
}

function dryDeletion(account: Account, keys: readonly Key[]): [unknown, () => string[]] {
  return [
    { dry_run: true, account: accountToJson(account), keys: keys.map(keyToJson) },
    () => [
      'Nothing was deleted. bds account delete would remove this, also from the trail, and keep the id and the billed usage:',
      accountFacts(account),
      ...(keys.length > 0 ? ['', listTable(KEY_COLUMNS, keys)] : []),
    ],
  ];
}

/** Lets the operator agree, if the account loses something by the other plan. */
async function confirmPlan(context: Context, id: string, plan: string, yes?: boolean): Promise<void> {
  const [{ account }, plans] = await Promise.all([
    context.accounts().call((client) => client.getAccount, { id }),
    plansByName(context),
  ]);
  const [before, after] = [plans.get(account?.plan ?? ''), plans.get(plan)];
  // Accounts says what is wrong if one of them does not exist.
  if (before && after) await confirmTerms(context, id, { before, after, accounts: async () => [id] }, yes);
}

async function repairLimits({ accounts, metering, output }: Context, accountId: string): Promise<void> {
  const { allowance } = await accounts().call((client) => client.signAllowance, { accountId });
  const { limits } = await metering().call((client) => client.repairLimits, { allowance });
  output.answer({ account: accountId, limits: limits.map(repairedToJson) }, () =>
    listTable(REPAIRED, limits, 'Metering has no ledger of this account in this month and the next.'),
  );
}

function repairedToJson({ pool, month, limit, revision, limitBefore, revisionBefore }: RepairedLimit) {
  const before = { allowance_before: limitBefore, revision_before: revisionBefore };
  return { pool, month, allowance: limit, revision, ...before };
}

const REPAIRED: Columns<RepairedLimit> = {
  MONTH: ({ month }) => month,
  POOL: ({ pool }) => pool,
  'ALLOWANCE BEFORE': ({ limitBefore }) => limitBefore,
  ALLOWANCE: ({ limit }) => limit,
  'REVISION BEFORE': ({ revisionBefore }) => revisionBefore,
  REVISION: ({ revision }) => revision,
};

export function accountToJson({ id, name, plan, state, createdAtMs, closedAtMs, deletedAtMs }: Account) {
  const times = {
    created_at: time(createdAtMs),
    closed_at: time(closedAtMs),
    deleted_at: time(deletedAtMs),
  };
  return { id, name, plan, state: stateWord(state), ...times };
}

function accountFacts({ id, name, plan, state, createdAtMs, closedAtMs, deletedAtMs }: Account): string {
  return facts([
    ['Account', id],
    ['Name', name],
    ['Plan', plan],
    ['State', stateWord(state)],
    ['Created', time(createdAtMs)],
    ['Closed', time(closedAtMs)],
    ['Deleted', time(deletedAtMs)],
  ]);
}
