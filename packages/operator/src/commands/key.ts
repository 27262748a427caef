import type { Key } from '@brand-data/contracts';
import { Command } from 'commander';
import type { Context } from '../context.ts';
import {
  CONCURRENCY_OPTION,
  type LimitOptions,
  limitsOf,
  limitsText,
  limitsToJson,
  RATE_OPTION,
  readConcurrency,
  readRate,
} from '../limits.ts';
import { facts, table, time } from '../output.ts';
import { readTime } from '../read-time.ts';

interface CreateOptions extends LimitOptions {
  label?: string;
  origin?: string[];
  expires?: number;
}

export function keyCommand({ connect, output }: Context): Command {
  const key = new Command('key').description(
    'Manage the keys of accounts; each key has a token that callers send',
  );

  key
    .command('create')
    .description('Create a key and show its token, which cannot be shown again')
    .argument('<account>', "the account's id")
    .option('--label <label>', 'give the key a name by which people recognize it')
    .option(
      '--origin <origin>',
      'allow only this web origin, such as https://example.com, or https://*.example.com for its subdomains; repeatable (default: all origins)',
      (value: string, origins: string[] = []) => [...origins, value],
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
      const answer = await connect()
        .accounts()
        .call((client) => client.createKey, request);
      if (answer.key === undefined) return;
      const made = answer.key;
      output.answer({ key: keyToJson(made), token: answer.token }, () =>
        [
          facts([
            ['Key', made.id],
            ['Account', made.accountId],
            ['Label', made.label],
            ['Origins', made.allowedOrigins.join(', ')],
            ['Expires', time(made.expiresAtMs)],
            ['Limits', limitsText(made.limits)],
            ['Token', answer.token],
          ]),
          '',
          'Save the token now: it is not stored and cannot be shown again.',
        ].join('\n'),
      );
    });

  key
    .command('list')
    .description('List the keys of an account')
    .argument('<account>', "the account's id")
    .action(async (accountId: string) => {
      const { keys } = await connect()
        .accounts()
        .call((client) => client.listKeys, { accountId });
      output.answer({ keys: keys.map(keyToJson) }, () =>
        keys.length === 0 ? 'The account has no keys. Create one with bds key create.' : keyTable(keys),
      );
    });

  key
    .command('revoke')
    .description('Revoke a key permanently; from then on its token is refused')
    .argument('<key>', "the key's id")
    .action(async (keyId: string) => {
      const answer = await connect()
        .accounts()
        .call((client) => client.revokeKey, { keyId });
      if (answer.key === undefined) return;
      const revoked = answer.key;
      output.answer({ key: keyToJson(revoked) }, () => keyTable([revoked]));
    });

  return key;
}

export function keyToJson(key: Key) {
  return {
    id: key.id,
    account: key.accountId,
    label: key.label,
    origins: key.allowedOrigins,
    ...limitsToJson(key.limits),
    state: stateOf(key),
    created_at: time(key.createdAtMs),
    expires_at: time(key.expiresAtMs),
    revoked_at: time(key.revokedAtMs),
  };
}

export function keyTable(keys: readonly Key[]): string {
  const rows = keys.map((key) => [
    key.id,
    key.label,
    stateOf(key),
    time(key.createdAtMs),
    time(key.expiresAtMs),
    key.allowedOrigins.join(', '),
    limitsText(key.limits),
  ]);
  return table(['KEY', 'LABEL', 'STATE', 'CREATED', 'EXPIRES', 'ORIGINS', 'LIMITS'], rows);
}

function stateOf({ revokedAtMs, expiresAtMs }: Key): 'active' | 'expired' | 'revoked' {
  if (revokedAtMs !== undefined) return 'revoked';
  return expiresAtMs !== undefined && expiresAtMs <= Date.now() ? 'expired' : 'active';
}
