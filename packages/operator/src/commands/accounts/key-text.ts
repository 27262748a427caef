import type { Key } from '@brand-data/contracts';
import { limitsText, limitsToJson } from '../../options/limits.ts';
import { type Columns, facts, listTable, time } from '../../text/tables.ts';

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

export function keyTable(keys: readonly Key[]): string {
  return listTable(COLUMNS, keys);
}

const COLUMNS: Columns<Key> = {
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

/** Returns a new key with its token. */
export function newKeyText(key: Key, token: string): string {
  return [
    facts([
      ['Key', key.id],
      ['Account', key.accountId],
      ['Label', key.label],
      ['Origins', key.allowedOrigins.join(', ')],
      ['Expires', time(key.expiresAtMs)],
      ['Limits', limitsText(key.limits)],
      ['Token', token],
    ]),
    '',
    'Save the token now: it is not stored and cannot be shown again.',
  ].join('\n');
}
