import { randomBytes } from 'node:crypto';
import { type GrantUsage, Route, type UsageCell } from '@brand-data/contracts';
import { acquire, grantIdOf, type LedgerKey, newGrantSecret, type OpenGrant } from '../src/ledger/ledger.ts';
import type { LedgerStore } from '../src/ledger/ledger-store.ts';
import type { NotApplied } from '../src/ledger/usage-by-ledger.ts';

/** A time far off: MongoDB's clock is real, and opens no grant of a month that is over. */
export const NOW_MS = Date.UTC(2099, 10, 20);

export const newKey = (): LedgerKey => ({
  accountId: `acct-${randomBytes(6).toString('hex')}`,
  pool: 'calls',
  month: '2099-11',
});

/** Cells that sum to `used`, with two keys. */
function cellsOf(used: number): UsageCell[] {
  const half = Math.floor(used / 2);
  return [
    { keyId: 'key-1', route: Route.BRANDS, status: 200, day: '2099-11-20', count: used - half },
    { keyId: 'key-2', route: Route.LOGOS, status: 404, day: '2099-11-20', count: half },
  ].filter(({ count }) => count > 0);
}

export const usageOf = (grantId: string, used: number, more: Partial<GrantUsage> = {}): GrantUsage => ({
  grantId,
  used,
  returned: 0,
  closed: false,
  cells: cellsOf(used),
  partial: false,
  ...more,
});

/** Returns the close that the settler sends, which carries no usage. */
export const settlingOf = (grantId: string): GrantUsage =>
  usageOf(grantId, 0, { closed: true, partial: true });

/** Returns the store's answer to usage, with these lists. All other lists are empty. */
export const answerOf = (said: Partial<NotApplied> = {}): NotApplied => ({
  refused: [],
  foreign: [],
  impossible: [],
  unknown: [],
  unavailable: [],
  ...said,
});

export const sumOf = (cells: readonly UsageCell[]): number =>
  cells.reduce((sum, { count }) => sum + count, 0);

/** Opens a grant of exactly `size` permits, even if fewer are left. Each grant has its own seq and holder. */
export async function openGrant(
  store: LedgerStore,
  key: LedgerKey,
  more: Partial<OpenGrant> = {},
): Promise<{ id: string; grant: OpenGrant }> {
  return store.update(key, (before) => {
    const grant: OpenGrant = {
      number: before.nextGrant,
      holder: `holder-${before.nextGrant}`,
      seq: 1,
      size: 10,
      used: 0,
      secret: newGrantSecret(),
      returned: 0,
      ttlMs: 60_000,
      idleMs: 0,
      openedAtMs: NOW_MS,
      ...more,
    };
    const ledger = {
      ...before,
      limit: 1_000_000,
      nextGrant: before.nextGrant + 1,
      grants: [...before.grants, grant],
    };
    return { ledger, result: { id: grantIdOf(key, grant), grant } };
  });
}

/** Opens a grant of any month, as if it had been opened in time. */
export async function openOldGrant(
  store: LedgerStore,
  key: LedgerKey,
  more: Partial<OpenGrant> = {},
): Promise<{ id: string; grant: OpenGrant }> {
  const number = await store.update(key, (before) => {
    const ledger = { ...before, nextGrant: before.nextGrant + 1 };
    return { ledger, result: before.nextGrant };
  });
  return openGrant(store, key, { number, ...more });
}

/** Asks for a grant as metering does. Returns the grant's id. undefined: there was none. */
export async function askFor(
  store: LedgerStore,
  key: LedgerKey,
  request: {
    holder: string;
    seq: number;
    limit: number;
    want: number;
    ignoredFromSeq?: number;
    nowMs?: number;
    secret?: string;
  },
): Promise<string | undefined> {
  const { nowMs = NOW_MS, ignoredFromSeq = 0, secret = newGrantSecret(), ...rest } = request;
  return store.update(key, (before) => {
    const { ledger, decision } = acquire(
      before,
      { ...rest, ignoredFromSeq, limitRevision: 1, secret },
      nowMs,
    );
    const result = decision.kind === 'grant' ? grantIdOf(key, decision.grant) : undefined;
    return { ledger, result };
  });
}

/** Returns the only ledger of an account, with its breakdown. */
export async function read(store: LedgerStore, { accountId, month }: LedgerKey) {
  const [only, ...others] = await store.readUsage(accountId, month);
  if (!only || others.length > 0) throw new Error(`${others.length + 1} ledgers, where one was expected`);
  return only;
}
