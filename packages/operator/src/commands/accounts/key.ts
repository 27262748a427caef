import { checkToken, type FindKeyRequest, type Key, tokenSha256 } from '@brand-data/contracts';
import { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../connection/failures.ts';
import { inputLine } from '../../connection/input.ts';
import {
  CONCURRENCY_OPTION,
  collected,
  limitsOf,
  limitsText,
  limitsToJson,
  RATE_OPTION,
  readConcurrency,
  readDuration,
  readRate,
  readTime,
} from '../../options/readers.ts';
import { type Context, commandGroup, confirm, YES_OPTION } from '../../terminal/context.ts';
import { type Columns, facts, listTable, time } from '../../text/tables.ts';

export function keyCommand(context: Context) {
  const description = 'Manage the keys of accounts; each key has a token that callers send';
  return commandGroup(context, 'key', description, [create, list, find, edit, rotate, revoke]);
}

function create({ accounts, output }: Context) {
  return new Command('create')
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
    .action(async (accountId, { label = '', origin = [], expires, ...options }) => {
      const limits = limitsOf(options);
      const request = { accountId, label, allowedOrigins: origin, expiresAtMs: expires, limits };
      const { key, token } = await accounts().call((client) => client.createKey, request);
      if (key) output.answer({ key: keyToJson(key), token }, () => newKeyText(key, token));
    });
}

function list({ accounts, output }: Context) {
  return new Command('list')
    .description('List the keys of an account')
    .argument('<account>', "the account's id")
    .action(async (accountId) => {
      const { keys } = await accounts().call((client) => client.listKeys, { accountId });
      output.answer({ keys: keys.map(keyToJson) }, () =>
        listTable(KEY_COLUMNS, keys, 'The account has no keys. Create one with bds key create.'),
      );
    });
}

function find(context: Context) {
  return new Command('find')
    .description('Find the key of a token; asks for the token, or reads it from standard input')
    .addHelpText(
      'after',
      '\nNo option takes the token, because a command line is seen by other users and kept by the shell.' +
        '\nIf a file has it: bds key find < token.txt',
    )
    .action(async () => {
      // The credential may be the line before the token.
      const accounts = context.accounts();
      const token = ((await context.ask?.('Token: ', true)) ?? inputLine()).trim();
      if (token === '') throw new UsageError('there is no token in standard input');
      if (checkToken(token, []) === 'wrong')
        throw new UsageError('this is no token: it is mistyped, or not whole. A token begins with pk_');
      const request: FindKeyRequest = { by: { $case: 'tokenSha256', value: tokenSha256(token) } };
      const { key } = await accounts.call((client) => client.findKey, request);
      if (key) context.output.answer({ key: keyToJson(key) }, () => keyFacts(key));
    });
}

function edit(context: Context) {
  const { accounts, output } = context;
  return new Command('edit')
    .description('Change the label or the allowed origins of a key; its token stays')
    .argument('<key>', "the key's id")
    .option('--label <label>', 'give the key this label')
    .option('--origin <origin>', 'allow only this web origin; repeatable; replaces the whole list', collected)
    .option('--all-origins', 'allow all origins')
    .option(...YES_OPTION)
    .action(async (keyId, { label, origin, allOrigins, yes }) => {
      if (allOrigins && origin) throw new UsageError('give --origin or --all-origins, not both');
      if (label === undefined && origin === undefined && !allOrigins)
        throw new UsageError('say what to change: give --label, --origin or --all-origins');
      const origins = allOrigins ? [] : origin;
      if (origin) await confirmOrigins(context, keyId, origin, yes);
      const request = { keyId, label, allowedOrigins: origins && { origins } };
      const { key } = await accounts().call((client) => client.updateKey, request);
      if (key) output.answer({ key: keyToJson(key) }, () => listTable(KEY_COLUMNS, [key]));
    });
}

/** Lets the operator agree, if origins that may use the key shall not use it any more. */
async function confirmOrigins(context: Context, keyId: string, origins: readonly string[], yes?: boolean) {
  if (yes) return;
  const { key } = await context.accounts().call((client) => client.findKey, byId(keyId));
  const before = key?.allowedOrigins ?? [];
  const kept = origins.map((origin) => {
    const url = URL.parse(origin);
    // As accounts stores it.
    return url && `${url.protocol}//${url.host.toLowerCase()}`;
  });
  const dropped = before.filter((origin) => !kept.some((each) => each && allows(each, origin))).join(', ');
  if (before.length > 0 && dropped === '') return;
  await confirm(context, `${keyId} is refused from ${dropped || 'all other origins'}`, yes);
}

/** Checks whether an allowed origin is this one, or has it among its subdomains: https://*.example.com */
function allows(allowed: string, origin: string): boolean {
  const [beginning = '', end] = allowed.split('*');
  return end === undefined ? allowed === origin : origin.startsWith(beginning) && origin.endsWith(end);
}

function byId(keyId: string): FindKeyRequest {
  return { by: { $case: 'keyId', value: keyId } };
}

function rotate(context: Context) {
  const { accounts, output } = context;
  return new Command('rotate')
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
    .action(async (keyId, { overlap, yes }) => {
      await confirm(context, `Rotating ${keyId} cannot be undone`, yes);
      const rotated = await accounts().call((client) => client.rotateKey, { keyId, overlapMs: overlap });
      const { key, token, replaced } = rotated;
      if (key === undefined || replaced === undefined) return;
      output.answer({ key: keyToJson(key), token, replaced: keyToJson(replaced) }, () => {
        const expires = `The old key ${replaced.id} expires at ${time(replaced.expiresAtMs)}.`;
        return `${newKeyText(key, token)}\n${expires}`;
      });
    });
}

function revoke(context: Context) {
  const { accounts, output } = context;
  return new Command('revoke')
    .description('Revoke a key permanently; from then on its token is refused')
    .argument('<key>', "the key's id")
    .option(...YES_OPTION)
    .action(async (keyId, { yes }) => {
      await confirm(context, `Revoking ${keyId} cannot be undone`, yes);
      const { key } = await accounts().call((client) => client.revokeKey, { keyId });
      if (key) output.answer({ key: keyToJson(key) }, () => listTable(KEY_COLUMNS, [key]));
    });
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
    replaced_by: key.replacedBy || null,
  };
}

export const KEY_COLUMNS: Columns<Key> = {
  KEY: ({ id }) => id,
  LABEL: ({ label }) => label,
  STATE: stateOf,
  CREATED: ({ createdAtMs }) => time(createdAtMs),
  EXPIRES: ({ expiresAtMs }) => time(expiresAtMs),
  'REPLACED BY': ({ replacedBy }) => replacedBy,
  ORIGINS: ({ allowedOrigins }) => allowedOrigins.join(', '),
  LIMITS: ({ limits }) => limitsText(limits),
};

function stateOf({ revokedAtMs, expiresAtMs }: Key): 'active' | 'expired' | 'revoked' {
  if (revokedAtMs !== undefined) return 'revoked';
  return expiresAtMs !== undefined && expiresAtMs <= Date.now() ? 'expired' : 'active';
}

function keyFacts(key: Key, token?: string): string {
  return facts([
    ['Key', key.id],
    ['Account', key.accountId],
    ['Label', key.label],
    ['State', stateOf(key)],
    ['Created', time(key.createdAtMs)],
    ['Origins', key.allowedOrigins.join(', ')],
    ['Expires', time(key.expiresAtMs)],
    ['Revoked', time(key.revokedAtMs)],
    ['Replaced by', key.replacedBy],
    ['Limits', limitsText(key.limits)],
    ['Token', token],
  ]);
}

function newKeyText(key: Key, token: string): string {
  return `${keyFacts(key, token)}\n\nSave the token now: it is not stored and cannot be shown again.`;
}
