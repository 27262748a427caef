import { Command } from 'commander';
import { UsageError } from '../../connection/usage-error.ts';
import {
  CONCURRENCY_OPTION,
  type LimitOptions,
  limitsOf,
  RATE_OPTION,
  readConcurrency,
  readRate,
} from '../../options/limits.ts';
import { collected, readDuration, readTime } from '../../options/readers.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import type { Context } from '../../terminal/context.ts';
import { time } from '../../text/tables.ts';
import { keyTable, keyToJson, newKeyText } from './key-text.ts';

interface CreateOptions extends LimitOptions {
  label?: string;
  origin?: string[];
  expires?: number;
}

interface EditOptions {
  label?: string;
  origin?: string[];
  allOrigins?: boolean;
}

export function keyCommand(context: Context): Command {
  const key = new Command('key').description(
    'Manage the keys of accounts; each key has a token that callers send',
  );
  addCreate(key, context);
  addList(key, context);
  addEdit(key, context);
  addRotate(key, context);
  addRevoke(key, context);
  return key;
}

function addCreate(key: Command, { accounts, output }: Context): void {
  key
    .command('create')
    .description('Create a key and show its token, which cannot be shown again')
    .argument('<account>', "the account's id")
    .option('--label <label>', 'give the key a name by which people recognize it')
    .option(
      '--origin <origin>',
      'allow only this web origin, such as https://example.com, or https://*.example.com for its subdomains; repeatable (default: all origins)',
      collected,
    )
    .option(
      '--expires <time>',
      'let the key expire at this time: YYYY-MM-DD (00:00 UTC) or YYYY-MM-DDTHH:MM:SSZ (default: never)',
      readTime,
    )
    .option(
      RATE_OPTION,
      "limit the key's calls a second, and how many may come at once (default: no limit)",
      readRate,
    )
    .option(
      CONCURRENCY_OPTION,
      "limit how many of the key's calls are under way at once (default: no limit)",
      readConcurrency,
    )
    .action(async (accountId: string, { label = '', origin = [], expires, ...options }: CreateOptions) => {
      const limits = limitsOf(options);
      const request = { accountId, label, allowedOrigins: origin, expiresAtMs: expires, limits };
      const { key: made, token } = await accounts().call((client) => client.createKey, request);
      if (made) output.answer({ key: keyToJson(made), token }, () => newKeyText(made, token));
    });
}

function addList(key: Command, { accounts, output }: Context): void {
  key
    .command('list')
    .description('List the keys of an account')
    .argument('<account>', "the account's id")
    .action(async (accountId: string) => {
      const { keys } = await accounts().call((client) => client.listKeys, { accountId });
      output.answer({ keys: keys.map(keyToJson) }, () =>
        keys.length === 0 ? 'The account has no keys. Create one with bds key create.' : keyTable(keys),
      );
    });
}

function addEdit(key: Command, { accounts, output }: Context): void {
  key
    .command('edit')
    .description('Change the label or the allowed origins of a key; its token stays')
    .argument('<key>', "the key's id")
    .option('--label <label>', 'give the key this label')
    .option('--origin <origin>', 'allow only this web origin; repeatable; replaces the whole list', collected)
    .option('--all-origins', 'allow all origins')
    .action(async (keyId: string, { label, origin, allOrigins = false }: EditOptions) => {
      if (allOrigins && origin) throw new UsageError('give --origin or --all-origins, not both');
      if (label === undefined && origin === undefined && !allOrigins)
        throw new UsageError('say what to change: give --label, --origin or --all-origins');
      const origins = allOrigins ? [] : origin;
      const request = { keyId, label, allowedOrigins: origins && { origins } };
      const { key: edited } = await accounts().call((client) => client.updateKey, request);
      if (edited) output.answer({ key: keyToJson(edited) }, () => keyTable([edited]));
    });
}

function addRotate(key: Command, { accounts, output, ask }: Context): void {
  key
    .command('rotate')
    .description(
      'Create a key with the label, origins, limits and expiry of another, which expires after the overlap',
    )
    .argument('<key>', 'the id of the key to replace')
    .requiredOption(
      '--overlap <duration>',
      'let the old key be valid for this long: 30m, 24h, 7d',
      readDuration,
    )
    .option(...YES_OPTION)
    .action(async (keyId: string, { overlap, ...options }: { overlap: number; yes?: boolean }) => {
      await confirm({ ask }, `Rotating ${keyId}`, options);
      const rotated = await accounts().call((client) => client.rotateKey, { keyId, overlapMs: overlap });
      const { key: made, token, replaced } = rotated;
      if (made === undefined || replaced === undefined) return;
      output.answer({ key: keyToJson(made), token, replaced: keyToJson(replaced) }, () =>
        [
          newKeyText(made, token),
          `The old key ${replaced.id} expires at ${time(replaced.expiresAtMs)}.`,
        ].join('\n'),
      );
    });
}

function addRevoke(key: Command, { accounts, output, ask }: Context): void {
  key
    .command('revoke')
    .description('Revoke a key permanently; from then on its token is refused')
    .argument('<key>', "the key's id")
    .option(...YES_OPTION)
    .action(async (keyId: string, options: { yes?: boolean }) => {
      await confirm({ ask }, `Revoking ${keyId}`, options);
      const { key: revoked } = await accounts().call((client) => client.revokeKey, { keyId });
      if (revoked) output.answer({ key: keyToJson(revoked) }, () => keyTable([revoked]));
    });
}
